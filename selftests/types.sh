#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# All kinds of values that C and BTF know, written by a BPF program, read by babeltrace2,
# compared by name with what was written. Hints that do not fit are refused. As root,
# with BUILD set, bpfrelay in PATH and the module loaded.
set -u

test=types
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
trap 'stop_busy; programs_cleanup' EXIT
here=$(dirname "$(readlink -f "$0")")

# WHAT: the trace says what written.py says.
same()
{
	python3 "$here/written.py" "$tmp/text" >"$tmp/out" 2>"$tmp/err" &&
		[ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
}

# FROM TO: control, the same with one thing changed is seen.
sees()
{
	local good=$tmp/text

	cp "$good" "$tmp/good"
	sed "s/$1/$2/" "$tmp/good" >"$tmp/text"
	! cmp -s "$tmp/good" "$tmp/text" && ! same && [ -s "$tmp/out" ]
	result $? "control, $1 would not pass as $2"
	cp "$tmp/good" "$tmp/text"
}

# HINT C-DECLARATION SAYS: a program with this member does not load.
refuses()
{
	cat >"$tmp/hint.bpf.c" <<-C
		#include "vmlinux.h"
		#include <bpf/bpf_helpers.h>
		#include "bpf_relay.h"
		struct event { __u32 len; $2 RELAY_HINT("$1"); };
		RELAY_MAP(hint, struct event);
		SEC("uprobe/busy:busy_tick") int prog(void *ctx) { return 0; }
		char LICENSE[] SEC("license") = "GPL";
	C
	clang -g -O2 -target bpf -I"$BUILD" -I"$here/../uapi" -I"$here/../bpf" \
		-c "$tmp/hint.bpf.c" -o "$tmp/hint.bpf.o" 2>"$tmp/err" &&
		says "${4:-1}" "$3" load "$tmp/hint.bpf.o"
	result $? "hint $1 on '$2': $3"
}

echo "KTAP version 1"
start_busy a

says 0 "^types: " load "$BUILD/selftests/types.bpf.o" && tell a tick 1
result $? "a log of every type"
records=$(stats_of types "stored events")
[ "$records" = 21 ] && [ "$(stats_of types "dropped events")" = 0 ]
result $? "all $records records are stored"
text types && [ "$(wc -l <"$tmp/text")" = "$records" ]
result $? "babeltrace2 reads as many, without a warning"
same
result $? "each value, by its name, is what was written"
sees "late = -20" "late = 20"
sees "PLAIN_LARGE" "PLAIN_ONE"
sees "real = \[ \[0\] = -0.25" "real = [ [0] = 0.25"
sees '"some text"' '"some test"'
sees "pad_1 = 0x0" "pad_1 = 0x10"
sees "anonymous = 7" "nobody = 7"

# A copy's text in metadata says of the types all that the map's BTF does.
lines()	# LOG
{
	bpfrelay cat --mono "$1"
}
values()	# the same in JSON; the time of the wall clock is measured anew for each copy
{
	bpfrelay cat -j "$1" | jq -c 'del(.time)'
}
fields()
{
	bpfrelay show "$1" | sed -n '/^type 0:/,$p'
}
cp -r "$logs"/types.*/ctf "$tmp/copy"
for what in lines values fields; do
	$what types >"$tmp/$what" && [ "$(wc -l <"$tmp/$what")" -ge "$records" ] &&
		$what "$tmp/copy" | cmp "$tmp/$what"
	result $? "the same $what from a copy"
done
# That knows no names of addresses: the command is not to know any, either.
python3 "$here/ctf_reader.py" "$tmp/copy" >"$tmp/out" 2>"$tmp/err" &&
	unshare -m sh -c 'mount --bind /dev/null /proc/kallsyms && bpfrelay cat --mono "$1"' \
		sh "$tmp/copy" 2>"$tmp/err" | grep -v '^#' | cmp - "$tmp/out"
result $? "a reader that was made from the format's description says the same"
sed -i 's,/\* bpf_relay: [^*]*\*/,,' "$tmp/copy/metadata"
for what in lines values fields; do
	$what "$tmp/copy" >"$tmp/out" && ! cmp -s "$tmp/out" "$tmp/$what"
	result $? "control, without comments in the metadata there are other $what"
done
bpfrelay unload types >/dev/null

refuses ipv4 "__u64 addr" "event.addr: hint ipv4 wants 4 bytes"
refuses packet:size "__u8 data[64]" \
	"event.data: hint packet:size wants an unsigned integer of that name before it"
refuses packet:len "__u8 data[64]" "^hint: " 0

finish
