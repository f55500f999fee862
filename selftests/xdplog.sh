#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# xdplog over veth against what the sender knows: every frame, its bytes, its length,
# what became of it; frames in several buffers too. As root, with BUILD set, bpfrelay
# in PATH and the module loaded.
set -u

test=xdplog
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
dev=xdplog0	# what is sent on peer arrives here
peer=xdplog1
type=0x88b5	# for local experiments

cleanup()
{
	programs_cleanup
	ip link del $dev 2>/dev/null
}
trap cleanup EXIT

cat >"$tmp/frames.py" <<'PY'
# frames.py send SEED LEN...: sends a frame of each length, of bytes that SEED and the
# frame's number decide; says how many of them the other end got.
# frames.py compare SEED TEXT IFINDEX VERDICT LEN...: what is wrong with the records of
# them, a line each.
import random, socket, sys, time

TYPE = 0x88b5
DATA_MAX = 128

def frames(seed, lengths):
    rng = random.Random(seed)
    for length in lengths:
        yield (b"\xff" * 6 + b"\x02\0\0\0\0\x01" + TYPE.to_bytes(2, "big") +
               rng.randbytes(length - 14))

if sys.argv[1] == "send":
    there = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(TYPE))
    there.bind(("xdplog0", TYPE))
    # Nobody reads while we send. (33: SO_RCVBUFFORCE)
    there.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(("xdplog1", 0))
    expected = list(frames(sys.argv[2], map(int, sys.argv[3:])))
    for frame in expected:
        s.send(frame)
        time.sleep(0.001)
    there.settimeout(1)
    got = []
    try:
        while len(got) < len(expected):
            got.append(there.recv(1 << 16))
    except TimeoutError:
        pass
    print(sum(frame in expected for frame in got))
else:
    from records import records

    seed, text, ifindex, verdict = sys.argv[2:6]
    wanted = list(frames(seed, map(int, sys.argv[6:])))
    for n, (_, f) in enumerate(records(text)):
        data, length = bytes(f["data"]), f["data_len"]
        if f["ifindex"] != int(ifindex) or f["verdict"] != int(verdict):
            print(f"record {n}: interface {f['ifindex']}, verdict {f['verdict']}")
        # By its bytes: two may have changed places on the way.
        match = [w for w in wanted if len(w) == f["len"] and w[:DATA_MAX] == data[:length]]
        if not match:
            print(f"record {n}: no frame of {f['len']} bytes begins with {data[:length].hex()}")
        elif length != min(len(match[0]), DATA_MAX) or any(data[length:]):
            print(f"record {n}: {length} bytes of {f['len']}, then {data[length:].hex()}")
        if match:
            wanted.remove(match[0])
    if wanted:
        print(f"{len(wanted)} frames have no record")
PY

# LEN...: sends frames; what the receiver got is in $got.
send()
{
	got=$(python3 "$tmp/frames.py" send "$seed" "$@")
}

# VERDICT LEN...: the records of these frames, all of them and no others, are as sent.
recorded()
{
	text xdplog && python3 "$tmp/frames.py" compare "$seed" "$tmp/text" "$ifindex" "$@" \
		>"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ]
}

echo "KTAP version 1"
ip link add $dev type veth peer name $peer
# Nothing may be sent that we do not send.
for i in $dev $peer; do
	echo 1 >"/proc/sys/net/ipv6/conf/$i/disable_ipv6"
	ip link set "$i" mtu 9000 up
done
ifindex=$(cat /sys/class/net/$dev/ifindex)
# shellcheck disable=SC2207
lengths=(14 15 60 64 127 128 129 130 1000 1514 $(seq 20 7 400))
seed=1

says 1 "xdplog_frame (xdp.frags) needs --dev IF" load xdplog
result $? "without --dev it is refused"
says 0 "^xdplog: " load xdplog --dev $dev
result $? "load, by its name"
send "${lengths[@]}"
[ "$got" = ${#lengths[@]} ]
result $? "frames pass: $got of ${#lengths[@]}"
adds_up xdplog && [ "$(offered xdplog)" = ${#lengths[@]} ]
result $? "own count == stored + dropped, as many as were sent: $sum"
recorded 2 "${lengths[@]}"
result $? "their bytes, lengths, interface and verdict are those of the frames"
seed=2
! recorded 2 "${lengths[@]}"
result $? "control, other bytes would be seen"
seed=1
! recorded 1 "${lengths[@]}" && ! recorded 2 "${lengths[@]}" 60 && ! recorded 2 "${lengths[@]:1}"
result $? "control, so would another verdict, a missing frame, one too many"

says 0 replaced load xdplog --replace --set verdict=XDP_DROP --set ethertype=0x88b6 &&
	send 60 60 60 && [ "$got" = 3 ] && [ "$(offered xdplog)" = ${#lengths[@]} ]
result $? "--set ethertype: frames of another type pass and are not recorded"
bpfrelay unload xdplog >/dev/null
says 0 "^xdplog: " load xdplog --dev $dev --set verdict=XDP_DROP --set ethertype=$type
send 60 500 1514
[ "$got" = 0 ] && recorded 1 60 500 1514 && adds_up xdplog
result $? "--set verdict=XDP_DROP: frames are recorded and do not pass: $sum"
bpfrelay unload xdplog >/dev/null

# More than a page: in several buffers.
jumbo=(4000 5000 9000 9014 60)
says 0 "^xdplog: " load xdplog --dev $dev
send "${jumbo[@]}"
[ "$got" = ${#jumbo[@]} ] && recorded 2 "${jumbo[@]}" && adds_up xdplog
result $? "jumbo frames: whole length, first bytes: $sum"
bpfrelay unload xdplog >/dev/null

says 0 "^xdplog: " load xdplog --dev $dev --size 4K --count 2 --mode keep
send "${lengths[@]}" "${lengths[@]}" "${lengths[@]}" "${lengths[@]}"
adds_up xdplog && [ "$got" = $((4 * ${#lengths[@]})) ] && [ "$(offered xdplog)" = "$got" ] &&
	[ "$(stats_of xdplog "dropped full")" = "$(stats_of xdplog "dropped events")" ] &&
	[ "$(stats_of xdplog "dropped full")" -gt 0 ]
result $? "a full log: frames pass all the same, $got; $sum"
bpfrelay unload xdplog >/dev/null

finish
