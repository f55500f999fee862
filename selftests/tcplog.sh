#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tcplog on real traffic: between two network namespaces, IPv4 and IPv6, what it
# recorded against what the sender knows. As root, with BUILD set, bpfrelay in
# PATH and the module loaded.
set -u

mib=${MIB:-64}		# for each version of IP
test=tcplog
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
a=tcplog-a-$$
b=tcplog-b-$$

cleanup()
{
	programs_cleanup
	ip netns del $a 2>/dev/null
	ip netns del $b 2>/dev/null
}
trap cleanup EXIT

cat >"$tmp/transfer.py" <<'PY'
# transfer.py recv ADDR | send ADDR BLOCKS SIZE: the sender prints "ADDR PORT PEER PORT BYTES"
import socket, sys

addr = sys.argv[2]
family = socket.AF_INET6 if ":" in addr else socket.AF_INET
if sys.argv[1] == "recv":
    s = socket.create_server((addr, 5555), family=family)
    print("ready", flush=True)
    c, _ = s.accept()
    while c.recv(1 << 20):
        pass
else:
    c = socket.create_connection((addr, 5555))
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    me, peer = c.getsockname(), c.getpeername()
    blocks, size = int(sys.argv[3]), int(sys.argv[4])
    for _ in range(blocks):
        c.sendall(b"x" * size)
    c.close()
    print(me[0], me[1], peer[0], peer[1], blocks * size)
PY

cat >"$tmp/compare.py" <<'PY'
# compare.py TEXT "ADDR PORT PEER PORT BYTES" MISSES: what is wrong, a line each
import ipaddress, sys
from records import events

me, my_port, peer, port, sent = sys.argv[2].split()
version = ipaddress.ip_address(me).version
there, back, strangers = [], 0, 0
for name, _, e in events(sys.argv[1]):
    if name != f"tcp{version}_event":
        continue
    saddr, daddr = (str(ipaddress.ip_address(bytes(e[end]))) for end in ("saddr", "daddr"))
    f = e["tcp"]
    way = (saddr, str(f["sport"]), daddr, str(f["dport"]))
    if way == (me, my_port, peer, port):
        there.append(f)
    elif way == (peer, port, me, my_port):
        back += 1
    else:
        strangers += 1

# By sequence numbers, from the SYN's on: a segment may have come twice.
syn = [f["seq"] for f in there if f["flags"] & 2]
if not syn:
    sys.exit("no SYN")
pos = missing = holes = 0
for off, size in sorted(((f["seq"] - syn[0] - 1) & 0xffffffff, f["len"])
                        for f in there if f["len"]):
    if off > pos:
        missing += off - pos
        holes += 1
    pos = max(pos, off + size)
if pos - missing != int(sent) and holes > int(sys.argv[3]):
    print(f"{sent} bytes sent, {pos - missing} recorded")
if pos != int(sent):
    print(f"{sent} bytes sent, {pos} bytes is where the records end")
if not back:
    print("nothing recorded of what the receiver sent")
if strangers:
    print(f"{strangers} records with other addresses or ports")
if not any(f["flags"] & 1 for f in there):
    print("no FIN")
if {f["state"] for f in there} - {1, 3, 8, 9, 10}:
    print("states that the receiver cannot have been in:", {f["state"] for f in there})
if not any(f["srtt_us"] and f["cwnd"] for f in there):
    print("no round trip time or window")
PY

# Segments that interrupted the program itself, which the kernel leaves out.
misses()
{
	bpftool -j prog show | python3 -c 'import json, sys; print(sum(p.get("recursion_misses", 0) for p in json.load(sys.stdin) if p.get("name", "").startswith("tcplog_")))'
}

# ADDRESS BLOCKS SIZE: prints what the sender knows.
transfer()
{
	mkfifo "$tmp/ready"
	ip netns exec $b python3 "$tmp/transfer.py" recv "$1" >"$tmp/ready" &
	read -r _ <"$tmp/ready"
	ip netns exec $a python3 "$tmp/transfer.py" send "$@"
	wait
	rm "$tmp/ready"
}

echo "KTAP version 1"
ip netns add $a
ip netns add $b
ip -n $a link add v0 type veth peer name v0 netns $b
for ns in $a $b; do
	ip -n "$ns" link set v0 up
done
ip -n $a addr add 10.9.0.1/24 dev v0
ip -n $b addr add 10.9.0.2/24 dev v0
ip -n $a addr add fd00::1/64 dev v0 nodad
ip -n $b addr add fd00::2/64 dev v0 nodad

bpfrelay load "$BUILD/tcplog.bpf.o" --set port=5555 --size 4M --count 8 --mode keep >"$tmp/out" ||
	cat "$tmp/out"
known4=$(transfer 10.9.0.2 $((mib * 16)) 65536)
known6=$(transfer fd00::2 $((mib * 16)) 65536)
sleep 1		# the last ACKs

stored=$(stats_of tcplog "stored events")
dropped=$(stats_of tcplog "dropped events")
offered=$(offered tcplog)
[ "$stored" -gt 100 ] && [ $((stored + dropped)) = "$offered" ]
result $? "stored ($stored) and dropped ($dropped) are what the program counted ($offered)"
[ "$dropped" = 0 ]
result $? "a large log keeps all"
text tcplog && [ "$(wc -l <"$tmp/text")" = "$stored" ]
result $? "babeltrace2 reads as many, without a warning"
missed=$(misses)
for known in "$known4" "$known6"; do
	python3 "$tmp/compare.py" "$tmp/text" "$known" "$missed" >"$tmp/wrong" 2>&1 && [ ! -s "$tmp/wrong" ]
	result $? "all bytes, addresses and ports as the sender knows them: $known"
	sed 's/^/# /' "$tmp/wrong"
done

python3 "$tmp/compare.py" "$tmp/text" "${known4% *} $((${known4##* } + 1))" 0 | grep -q "bytes sent"
result $? "control, one byte more would be missed"
python3 "$tmp/compare.py" "$tmp/text" "${known6/:1 /:3 }" 0 2>&1 | grep -q .
result $? "control, another address would be seen"
bpfrelay unload tcplog >/dev/null

bpfrelay load "$BUILD/tcplog.bpf.o" --set port=5555 --size 4K --count 2 --mode keep >/dev/null
known4=$(transfer 10.9.0.2 4000 1000)
sleep 1
stored=$(stats_of tcplog "stored events")
dropped=$(stats_of tcplog "dropped events")
offered=$(offered tcplog)
[ "$dropped" -gt 0 ] && [ "$(stats_of tcplog "dropped full")" = "$dropped" ] &&
	[ $((stored + dropped)) = "$offered" ]
result $? "a small log that keeps the first drops: $stored + $dropped = $offered"
text tcplog	# and a warning: events were dropped
python3 "$tmp/compare.py" "$tmp/text" "$known4" 0 | grep -q "bytes sent"
result $? "control, what was dropped is missing among the records"
bpfrelay unload tcplog >/dev/null

bpfrelay load "$BUILD/tcplog.bpf.o" --set port=5555 --set data_only=true >/dev/null
known4=$(transfer 10.9.0.2 100 1000)
sleep 1
text tcplog && [ -s "$tmp/text" ] && ! grep -q " len = 0," "$tmp/text" && grep -q " len = " "$tmp/text"
result $? "--set data_only=true: only segments with payload"

finish
