#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bpfrelay against the real module: load, stop, start, unload; what fails leaves
# nothing behind. As root, with BUILD and MODULE set, bpfrelay in PATH and the
# module loaded.
set -u

test=loader
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
obj=$BUILD/tcplog.bpf.o
bad=$BUILD/selftests/loader.bpf.o

# One connection on PORT over ADDRESS, with data.
traffic()
{
	python3 - "$1" "$2" <<-PY
		import socket, sys
		addr, port = sys.argv[1], int(sys.argv[2])
		s = socket.create_server((addr, port),
		    family=socket.AF_INET6 if ":" in addr else socket.AF_INET)
		c = socket.create_connection((addr, port))
		a, _ = s.accept()
		c.sendall(b"x" * 1000)
		c.close()
		while a.recv(4096): pass
		a.close()
	PY
}

echo "KTAP version 1"

rmmod bpf_relay
says 1 "insmod bpf_relay.ko" load "$obj" && nothing_left
result $? "without the module load is refused and leaves nothing"
insmod "$MODULE"

for args in "--size 4095" "--size 8M" "--count 1" "--count 8192" "--size 4M --count 1024"; do
	# shellcheck disable=SC2086
	says 1 -- load "$obj" $args && nothing_left
	result $? "illegal sizes ($args) are refused and leave nothing"
done
says 1 "memory" load "$obj" --size 4M --count 256 && nothing_left
result $? "more than the memory is refused and leaves nothing"
says 1 "no_function_has_this_name" load "$bad" && nothing_left
result $? "a program that cannot be attached: load fails and leaves nothing"

says 0 "^tcplog: " load "$obj" --set port=5555 && [ -d $pins/tcplog/links ]
result $? "load"
line=$(sed -n 's/^tcplog: //p' "$tmp/out")
dmesg | grep "tcplog\.[0-9]*: " | tail -1 | grep -qF ": $line"
result $? "it says the same as the kernel log: $line"
[ -e "$(tail -1 "$tmp/out")/ctf/metadata" ]
result $? "and where the log's files are: $(tail -1 "$tmp/out")"
says 1 "loaded already" load "$obj"
result $? "a second load of the same name is refused"

traffic 127.0.0.1 5555
traffic ::1 5555
records=$(stats_of tcplog "stored events")
[ "$records" -gt 10 ] && [ "$(offered tcplog)" = "$records" ]
result $? "with the loader gone, its programs record: $records, as many as they counted"
traffic 127.0.0.1 5556
[ "$(stats_of tcplog "stored events")" = "$records" ]
result $? "--set port=5555: no record of another port"
text tcplog &&
	[ "$(wc -l <"$tmp/text")" = "$records" ] &&
	grep -q 'tcp4_event: .* saddr = \[ \[0\] = 127, \[1\] = 0, \[2\] = 0, \[3\] = 1 \].* dport = 5555, .* len = 1000,' "$tmp/text" &&
	grep -q 'tcp6_event: .* \[15\] = 0x1 \].* dport = 5555, .* len = 1000,' "$tmp/text"
result $? "babeltrace2 reads them with the names and values that the types give"

says 0 "2 programs detached" stop tcplog && ! bpftool link show | grep -q .
result $? "stop"
says 1 "stopped already" stop tcplog
result $? "a second stop is refused"
traffic 127.0.0.1 5555
[ "$(stats_of tcplog "stored events")" = "$records" ] && [ "$(stats_of tcplog entries)" = "$records" ]
result $? "stopped, nothing is recorded, and the log stays"
says 0 "2 programs attached" start tcplog
result $? "start"
says 1 "running already" start tcplog
result $? "a second start is refused"
traffic 127.0.0.1 5556
[ "$(stats_of tcplog "stored events")" = "$records" ]
result $? "started again, --set port=5555 still holds"
traffic 127.0.0.1 5555
now=$(stats_of tcplog "stored events")
[ "$now" -gt "$records" ] && [ "$(offered tcplog)" = "$now" ]
result $? "started again, the programs go on in the same maps: $now"

says 0 "tcplog: 8 x" load "$obj" --name other --pin /sys/fs/bpf/elsewhere/ &&
	[ -e /sys/fs/bpf/elsewhere/tcplog ] && says 0 removed unload other &&
	[ ! -e /sys/fs/bpf/elsewhere ]
result $? "--name and --pin: the same object once more, elsewhere"

exec 9<$pins/tcplog/tcplog
says 0 "something else holds its map" unload tcplog && [ -e $logs/tcplog.*/stats ]
result $? "unload says so if the log stays because its map is still open"
exec 9<&-
nothing_left
result $? "it goes with the last holder, and nothing is left"

bpfrelay load "$obj" --set port=5555 >/dev/null && traffic ::1 5555
records=$(stats_of tcplog entries)
says 0 "with $records readable records" unload tcplog && nothing_left
result $? "unload says how many readable records go ($records), and nothing is left"
says 1 "not loaded" unload tcplog
result $? "a second unload is refused"

# As installed: the command finds its programs from where it is.
make -s -C "$(dirname "$0")/.." O="$BUILD" DESTDIR="$tmp" PREFIX=/opt install-user >"$tmp/out" 2>"$tmp/err" &&
	[ -x "$tmp/opt/bin/bpfrelay" ] && [ -e "$tmp/opt/include/bpf_relay.h" ] &&
	[ -e "$tmp/opt/include/linux/bpf_relay.h" ]
result $? "make install-user"
for path in "$tmp/opt/bin:$PATH" "$BUILD:$PATH"; do
	(cd / && PATH=$path says 0 "^schedlog: 8 x" load schedlog && PATH=$path says 0 removed unload schedlog) &&
		nothing_left
	result $? "load schedlog: by its name, from .../$(basename "$(dirname "${path%%:*}")")/$(basename "${path%%:*}")"
done
says 1 "no nosuch.bpf.o in $(readlink -f "$BUILD") or " load nosuch
result $? "a name that there is not: it says where it looked"

# Able to fail: what the checks above look for is not simply always there.
! says 0 "^tcplog: " load "$bad"
result $? "control, a load that fails is not taken for one that works"
mkdir $pins
! nothing_left
result $? "control, something left behind is seen"
rmdir $pins

finish
