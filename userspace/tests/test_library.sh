#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_library.sh O TRACE_MAKE: the library as it is installed: a program that is built
# with pkg-config, shared and static; what it exports.

build=$1
make=$2
suite=library
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

make -s O="$build" PREFIX="$out/usr" DESTDIR= install >"$out/log" 2>&1 &&
	install -D -m 644 ../uapi/linux/bpf_relay.h "$out/usr/include/linux/bpf_relay.h"
result $? "is installed"

cat >"$out/count.c" <<'C'
#include <stdio.h>
#include <bpfrelay.h>

int main(int argc, char **argv)
{
	struct bpfrelay_reader *reader;
	const struct bpfrelay_item *item;
	struct bpfrelay_log *log;
	int n = 0;

	if (argc != 2 || bpfrelay_log_open(argv[1], NULL, &log) ||
	    bpfrelay_reader_open(log, NULL, &reader))
		return 1;
	while (bpfrelay_reader_next(reader, &item) > 0)
		n += item->kind == BPFRELAY_RECORD;
	bpfrelay_reader_close(reader);
	bpfrelay_log_close(log);
	printf("%d\n", n);
	return 0;
}
C
"$make" "$out/trace" 1 321 0 >/dev/null
export PKG_CONFIG_PATH=$out/usr/lib/pkgconfig:$PKG_CONFIG_PATH
unset PKG_CONFIG_SYSROOT_DIR
# shellcheck disable=SC2046
cc -Wall -Werror -o "$out/shared" "$out/count.c" $(pkg-config --cflags --libs libbpfrelay) &&
	[ "$(LD_LIBRARY_PATH=$out/usr/lib:$LD_LIBRARY_PATH "$out/shared" "$out/trace")" = 321 ] &&
	readelf -d "$out/shared" | grep -q 'NEEDED.*libbpfrelay.so.1'
result $? "a program with the shared one"
# shellcheck disable=SC2046
cc -Wall -Werror -o "$out/static" "$out/count.c" $(pkg-config --cflags libbpfrelay) \
	"$out/usr/lib/libbpfrelay.a" $(pkg-config --static --libs libbpf libelf zlib json-c) &&
	[ "$("$out/static" "$out/trace")" = 321 ] &&
	! readelf -d "$out/static" | grep -q libbpfrelay
result $? "a program with the static one"
c++ -Wall -Werror -x c++ -fsyntax-only -I"$out/usr/include" "$out/usr/include/bpfrelay.h"
result $? "the header in C++"

declared=$(sed -n 's/^[^*]*\**\(bpfrelay_[a-z_]*\)(.*/\1/p; s/^.*\*\(bpfrelay_[a-z_]*\)(.*/\1/p' \
	"$out/usr/include/bpfrelay.h" | sort -u)
for lib in libbpfrelay.so.1 libbpfrelay.a; do
	dynamic=-D
	[ "${lib##*.}" = so ] || [ "${lib##*.}" = 1 ] || dynamic=
	# shellcheck disable=SC2086 # or none
	nm -g $dynamic --defined-only "$out/usr/lib/$lib" |
		sed -n 's/.* T \([^@]*\).*/\1/p' | sort >"$out/exported"
	[ "$declared" ] && diff <(echo "$declared") "$out/exported"
	result $? "$lib exports what the header declares, and nothing else"
done
nm -D "$out/usr/lib/libbpfrelay.so.1" | grep -q ' T bpfrelay_log_open@@BPFRELAY_1.0$'
result $? "symbols have versions"
"$out/usr/bin/bpfrelay" cat "$out/trace" | grep -vc '^#' | grep -qx 321
result $? "the installed command finds the installed library"
make -s O="$build" PREFIX="$out/usr" DESTDIR= uninstall && rm "$out/usr/include/linux/bpf_relay.h" &&
	[ -z "$(find "$out/usr" ! -type d)" ]
result $? "is uninstalled without a trace"

ktap_end
