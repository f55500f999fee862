#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What export writes, read by the tools that it is for: pcapng by tshark against a tcpdump
# of the same interface, stacks against the kernel's own names, counters by Prometheus's
# parser, chrome JSON against the records. Then the same of a snapshot, when the log is
# gone. As root, with BUILD set, bpfrelay in PATH and the module loaded.
set -u

test='export'
# shellcheck source=selftests/programs.sh disable=SC2154
. "$(dirname "$0")/programs.sh"
dev=export0	# what is sent on peer arrives here
peer=export1

cleanup()
{
	stop_busy
	programs_cleanup
	ip link del $dev 2>/dev/null
}
trap cleanup EXIT

echo "KTAP version 1"

# ---- pcapng: packets ------------------------------------------------------------------

# What it says of who may run it is no news.
tshark()
{
	command tshark "$@" 2> >(grep -v '^Running as user' >>"$tmp/err")
}

# CAPTURE FILE: of each frame its lengths and bytes; its time is that of who saw it.
frames()
{
	tshark -r "$1" -T json -x | jq -r '.[]._source.layers |
		[.frame["frame.len"], .frame["frame.cap_len"], .frame_raw[0]] | join(" ")' >"$2"
}

ip link add $dev type veth peer name $peer
for i in $dev $peer; do
	echo 1 >"/proc/sys/net/ipv6/conf/$i/disable_ipv6"
	ethtool -K "$i" gro off gso off tso off tx off rx off >"$tmp/out" 2>&1
	ip link set "$i" up
done
tcpdump -i $dev -s 128 -U -w "$tmp/wire.pcap" 2>"$tmp/tcpdump" &
dump=$!
for _ in $(seq 100); do
	grep -q "listening on" "$tmp/tcpdump" && break
	sleep 0.1
done
bpfrelay load xdplog --dev $dev >"$tmp/out" 2>"$tmp/err"
result $? "xdplog on a veth, and tcpdump"
before=$(date +%s%N)
python3 - $peer <<'PY'
import random, socket, sys
rng = random.Random(1)
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
for n in list(range(60, 300, 3)) + [1514]:
    s.send(b"\xff" * 6 + b"\x02\0\0\0\0\x01\x88\xb5" + rng.randbytes(n - 14))
PY
after=$(date +%s%N)
for _ in $(seq 50); do
	tshark -r "$tmp/wire.pcap" | wc -l >"$tmp/n"
	[ "$(cat "$tmp/n")" -lt 81 ] || break
	sleep 0.1
done
kill $dump
wait $dump 2>/dev/null
bpfrelay stop xdplog >/dev/null
bpfrelay export xdplog --format pcapng >"$tmp/log.pcapng" 2>"$tmp/out"
result $? "export --format pcapng"
frames "$tmp/wire.pcap" "$tmp/wire" && frames "$tmp/log.pcapng" "$tmp/log"
[ "$(wc -l <"$tmp/wire")" = 81 ] && cmp -s "$tmp/wire" "$tmp/log"
result $? "pcapng: packet for packet what tcpdump saw: $(wc -l <"$tmp/log")"
sed '5s/[0-9a-f]$/x/' "$tmp/log" | cmp -s "$tmp/wire"
[ $? = 1 ]
result $? "control, another byte is found out"
: >"$tmp/err"
tshark -r "$tmp/log.pcapng" -T fields -e frame.interface_name -e frame.time_epoch |
	tr -d . >"$tmp/out"
[ ! -s "$tmp/err" ] && awk -v dev=$dev -v before="$before" -v after="$after" '
	$1 != dev || $2 < before || $2 > after || $2 < last { bad++ } { last = $2 }
	END { exit bad || NR != 81 }' "$tmp/out"
result $? "pcapng: the interface's name, times of the wall clock"
bpfrelay export xdplog --format pcapng -e 'len > 1000' | tshark -r - | wc -l >"$tmp/out"
[ "$(cat "$tmp/out")" = 1 ]
result $? "pcapng: of a filter"

# ---- chrome, openmetrics -----------------------------------------------------------------

bpfrelay export xdplog --format jsonl | cmp -s - <(bpfrelay cat -j xdplog)
result $? "jsonl is what cat -j prints"
bpfrelay export xdplog --format chrome >"$tmp/chrome" 2>"$tmp/err" &&
	jq -c '.traceEvents[] | select(.ph == "i") | [.name, .tid, .args]' "$tmp/chrome" >"$tmp/out" &&
	bpfrelay cat -j xdplog | jq -c '[.type, .cpu + 4194305, .fields]' | cmp -s - "$tmp/out"
result $? "chrome: every record, on the track of its CPU"
bpfrelay export xdplog --format openmetrics >"$tmp/metrics" 2>"$tmp/err" &&
	python3 "$(dirname "$0")/openmetrics.py" "$tmp/metrics" >"$tmp/sums" 2>"$tmp/err"
result $? "openmetrics: Prometheus's parser reads it"
[ "$(awk '$1 == "bpf_relay_stored_records_total" { print $2 }' "$tmp/sums")" = "$(stats_of xdplog 'stored events')" ] &&
	[ "$(awk '$1 == "bpf_relay_readable_bytes" { print $2 }' "$tmp/sums")" = "$(stats_of xdplog bytes)" ] &&
	[ "$(grep -c . "$tmp/sums")" = 10 ]
result $? "openmetrics: the numbers are those of stats"
sed 's/^# EOF//' "$tmp/metrics" >"$tmp/cut"
! python3 "$(dirname "$0")/openmetrics.py" "$tmp/cut" >"$tmp/out" 2>&1
result $? "control, half of it is refused"
says 1 "no type of it has a member that is a stack" export xdplog --format folded
result $? "folded of a log without stacks is refused"

# ---- folded: stacks ------------------------------------------------------------------------

start_busy a
bpfrelay load stacklog --freq 199 --size 256K >"$tmp/out" 2>"$tmp/err"
tell a spin 300
# System calls that stay in the kernel for a while.
dd if=/dev/zero of=/dev/null bs=4M count=50 2>"$tmp/dd"
bpfrelay stop stacklog >/dev/null
bpfrelay export stacklog --format folded >"$tmp/folded" 2>"$tmp/err"
result $? "export --format folded"
samples=$(stats_of stacklog entries)
[ "$samples" -gt 0 ] && [ "$(awk '{ n += $NF } END { print n }' "$tmp/folded")" = "$samples" ] &&
	grep -q '^busy;' "$tmp/folded"
result $? "folded: each of $samples samples counts; those of busy are there"
# The names that the module got from the kernel, in its file `text`.
sed -n 's/.* kernel=\[\(.*\)\] user=.*/\1/p' $logs/stacklog.*/text |
	sed 's/+0x[0-9a-f]*\/0x[0-9a-f]*//g; s/\([^ ,]\)\[/\1 [/g' |
	awk -F, '{ for (i = NF; i > 0; i--) printf "%s%s", $i, (i > 1 ? ";" : "\n") }' | sort >"$tmp/want"
awk '{ n = $NF; sub(/ [0-9]+$/, ""); $0 = substr($0, index($0 ";", ";") + 1)
	       gsub(/(^|;)([^;]*\+0x[0-9a-f]+|0x[0-9a-f]+)/, ""); sub(/^;/, "")
	       while (n--) print }' "$tmp/folded" | sort >"$tmp/got"
grep -q . "$tmp/want" && grep . "$tmp/want" | cmp -s - <(grep . "$tmp/got")
result $? "folded: kernel functions as the kernel itself names them: $(grep -c . "$tmp/want") stacks"
grep -q "busy+0x" "$tmp/folded"
result $? "folded: user frames by their file and offset"
head -n -1 "$tmp/want" | cmp -s - "$tmp/got"
[ $? = 1 ]
result $? "control, a stack less is found out"

# Text: the same names where cat makes it. Of what is no function of the kernel's own text, as
# the code of programs, the kernel knows better how long it is.
lines()
{
	grep -v '^#' "$@" | cut -d' ' -f2- | sed 's/\(+0x[0-9a-f]*\)\/0x[0-9a-f]*/\1/g'
}
lines $logs/stacklog.*/text >"$tmp/text"
bpfrelay cat stacklog 2>"$tmp/err" >"$tmp/cat"
[ "$(wc -l <"$tmp/text")" = "$samples" ] && grep -q '+0x' "$tmp/text" && lines "$tmp/cat" | cmp -s "$tmp/text"
result $? "cat: kernel functions as the file text has them"

# ---- What a snapshot keeps ------------------------------------------------------------------

bpfrelay snapshot stacklog "$tmp/stacks" >"$tmp/out" 2>"$tmp/err" &&
	bpfrelay snapshot xdplog "$tmp/packets" >"$tmp/out" 2>"$tmp/err" &&
	[ "$(stat -c %a "$tmp/stacks/.names")" = 600 ]
result $? "snapshots keep names"
babeltrace2 "$tmp/stacks" 2>"$tmp/err" | wc -l >"$tmp/out"
[ ! -s "$tmp/err" ] && [ "$(cat "$tmp/out")" = "$samples" ]
result $? "babeltrace2 reads such a snapshot"
stop_busy
busy_pid=()
bpfrelay unload stacklog >/dev/null
bpfrelay unload xdplog >/dev/null
ip link del $dev
bpfrelay export "$tmp/stacks" --format folded 2>"$tmp/err" | cmp -s - "$tmp/folded"
result $? "folded: the same when log and process are gone"
bpfrelay cat "$tmp/stacks" 2>"$tmp/err" >"$tmp/again"
[ -s "$tmp/again" ] && cmp -s "$tmp/cat" "$tmp/again"
result $? "cat: the same text when log and process are gone"
bpfrelay export "$tmp/packets" --format pcapng | tshark -r - -T fields -e frame.interface_name |
	grep -cx $dev >"$tmp/out"
[ "$(cat "$tmp/out")" = 81 ]
result $? "pcapng: the name of the interface is there when that is gone"
finish
