#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The examples, built as a user builds them, against the installed library, and run. As
# root, with BUILD set and the module loaded.
set -u

test=examples
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
top=$(dirname "$(dirname "$(readlink -f "$0")")")
trap 'rm -rf /sys/fs/bpf/execs; programs_cleanup' EXIT

echo "KTAP version 1"
make -s -C "$top" O="$BUILD" PREFIX="$tmp/usr" install-user >"$tmp/log" 2>&1 &&
	cp -r "$top/examples" "$tmp/examples"
result $? "the library is installed"
export PKG_CONFIG_PATH=$tmp/usr/lib/pkgconfig LD_LIBRARY_PATH=$tmp/usr/lib
export CFLAGS="-O2 -Wall -Wextra -Werror -Wno-unused-parameter"
for example in rates loader; do
	make -s -C "$tmp/examples/$example" >"$tmp/log" 2>&1
	result $? "$example is built"
done

"$tmp/examples/loader/loader" 2>"$tmp/err" && ! [ -s "$tmp/err" ]
result $? "loader: loads, and exits"
! "$tmp/examples/loader/loader" 2>"$tmp/err" && grep -q "^loader: File exists" "$tmp/err" &&
	[ -e /sys/fs/bpf/execs/map ]
result $? "loader: a second time it says why not, and what there is stays"
"$tmp/examples/rates/rates" 1 3 >"$tmp/rates" &
rates=$!
for _ in $(seq 50); do
	/bin/true
	sleep 0.05
done
wait $rates
bpfrelay cat execs | grep -q ' exec pid=[0-9]* uid=0 comm="true"$'
result $? "loader: records of programs that ran behind it"
[ "$(grep -c '^LOG ' "$tmp/rates")" = 3 ] &&
	awk '$1 ~ /^execs\./ && $2 > 0 && $3 > 0 && $4 == 0 { n++ } END { exit n < 1 }' "$tmp/rates"
result $? "rates: what execs records"
rm -r /sys/fs/bpf/execs
for _ in $(seq 100); do
	[ -z "$(find $logs -name 'execs.*')" ] && break
	sleep 0.1
done
[ -z "$(find $logs -name 'execs.*')" ] && "$tmp/examples/rates/rates" 1 1 >"$tmp/rates" &&
	! grep -q execs "$tmp/rates"
result $? "without its pins the log is gone"

finish
