#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_export.sh BPFRELAY TRACE_MAKE: bpfrelay export, on traces that are known. What needs
# a live log, or hints, is in selftests/export.sh. Needs no module.

bpfrelay=$1
make=$2
here=$(dirname "$0")
suite='export'
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

# A log with its counters beside it.
mkdir "$out/gen.7"
trace=$out/gen.7/ctf
"$make" "$trace" 5 500 0 >"$out/text"
cat >"$out/gen.7/stats" <<'STATS'
types: 3
subbuf_size: 4096
n_subbufs: 8
memory: 98304
mode: overwrite

cpu: 0
entries: 250
bytes: 8000
stored events: 18446744073709551615
stored bytes: 9000
dropped events: 3
dropped busy: 2
dropped no record: 1

cpu: 1
entries: 250
bytes: 7000
stored events: 260
overrun: 10

cpu: 2 (no buffer)
STATS

"$bpfrelay" export "$trace" --format jsonl >"$out/got" 2>"$out/err" && [ ! -s "$out/err" ] &&
	"$bpfrelay" cat -j "$trace" | cmp -s - "$out/got"
result $? "jsonl is cat -j"
"$bpfrelay" export "$trace" -j -n 7 -e 'type == "one"' >"$out/got" && [ "$(wc -l <"$out/got")" = 7 ] &&
	"$bpfrelay" cat -j "$trace" | grep '"one"' | tail -7 | cmp -s - "$out/got"
result $? "of the records that are selected"

# ---- chrome: strictly as the Trace Event Format has it ----------------------------------

cat >"$out/chrome.py" <<'PY'
# chrome.py FILE: every event has what its phase wants, every track is named once, before
# its first event; prints "TYPE TS_NS TRACK_NAME" of each record.
import decimal, json, sys

def unlike(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)

trace = json.load(open(sys.argv[1]), parse_float=decimal.Decimal, object_pairs_hook=unlike)
assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}
assert trace["displayTimeUnit"] == "ns"
threads, processes = {}, {}
for event in trace["traceEvents"]:
    track = event["pid"], event["tid"]
    assert all(type(n) is int for n in track)
    if event["ph"] == "M":
        assert set(event) == {"ph", "name", "cat", "ts", "pid", "tid", "args"}
        names, key = {"thread_name": (threads, track),
                      "process_name": (processes, track[0])}[event["name"]]
        # Each thread of a process may say its name, but the same one.
        assert names.setdefault(key, event["args"]["name"]) == event["args"]["name"]
        continue
    assert event["ph"] == "i" and event["s"] == "t"
    assert set(event) == {"ph", "s", "name", "cat", "ts", "pid", "tid", "args"}
    print(event["name"], int(event["ts"] * 1000), threads.get(track, track[1]))
PY

"$bpfrelay" export "$trace" --format chrome >"$out/chrome" 2>"$out/err" && [ ! -s "$out/err" ] &&
	python3 "$out/chrome.py" "$out/chrome" >"$out/got" 2>"$out/err"
result $? "chrome: is what the format wants"
"$bpfrelay" cat -j "$trace" | jq -r '"\(.type) \(.ts) CPU \(.cpu)"' >"$out/want"
[ "$(wc -l <"$out/want")" = 500 ] && cmp -s "$out/want" "$out/got"
result $? "chrome: every record, to the ns, on its CPU"
jq -c '.traceEvents[] | select(.ph == "i").args' "$out/chrome" >"$out/got" &&
	"$bpfrelay" cat -j "$trace" | jq -c .fields | cmp -s - "$out/got"
result $? "chrome: with its fields"
head -c -4 "$out/chrome" >"$out/cut"
! python3 "$out/chrome.py" "$out/cut" >"$out/got" 2>&1
result $? "control, half of it is refused"

# Threads: a type with a pid.
cp -r "$trace" "$out/threads"
sed -i '/"one"/,/_check/s/_cpu;/_pid;/' "$out/threads/metadata"
"$bpfrelay" export "$out/threads" --format chrome --type one >"$out/chrome" &&
	python3 "$out/chrome.py" "$out/chrome" >"$out/got" 2>"$out/err" &&
	"$bpfrelay" cat -j "$out/threads" --type one | jq -r '"one \(.ts) \(.fields.pid)"' |
	cmp -s - "$out/got"
result $? "chrome: records with a pid are on the tracks of threads"

cp -r "$trace" "$out/damaged"
printf 'x' | dd of="$out/damaged/cpu0" bs=1 seek=4096 conv=notrunc 2>/dev/null
says 1 "packet 1 does not begin" export "$out/damaged" --format chrome &&
	python3 "$out/chrome.py" "$out/out" 2>"$out/err" | grep -q '^lost [0-9]* CPU 0$'
result $? "chrome: what is lost is an event, and the file is whole"

# ---- openmetrics ----------------------------------------------------------------------------

"$bpfrelay" export "$trace" --format openmetrics >"$out/metrics" 2>"$out/err" &&
	python3 "$here/../../selftests/openmetrics.py" "$out/metrics" >"$out/got" 2>"$out/err" &&
	grep -qx "bpf_relay_dropped_records_total 3" "$out/got" &&
	grep -qx "bpf_relay_readable_bytes 15000" "$out/got" &&
	grep -qx 'bpf_relay_stored_records_total{log="gen.7",cpu="0"} 18446744073709551615' "$out/metrics" &&
	grep -qx 'bpf_relay_dropped_records_total{log="gen.7",cpu="0",reason="busy"} 2' "$out/metrics" &&
	[ "$(grep -c . "$out/got")" = 10 ] && ! grep 'cpu="2"' "$out/metrics"
result $? "openmetrics: Prometheus's parser reads it, with these numbers"
grep -v '^# EOF' "$out/metrics" >"$out/cut"
! python3 "$here/../../selftests/openmetrics.py" "$out/cut" >"$out/got" 2>&1
result $? "control, without its end it is refused"

# ---- pcapng and folded: what is a packet or a stack is said by comments ------------------------

# DIR LINE-OF-n: a copy whose first type has another field n, of the same 8 bytes.
retyped()
{
	cp -r "$trace" "$out/$1"
	sed -i "/\"one\"/,/_check/{
		s|.* _n;.*|\t\t$2|
		s|_cpu;.*|_cpu; /* bpf_relay: ifindex */|
	}" "$out/$1/metadata"
}

retyped packets 'integer { size = 8; align = 8; signed = false; base = 16; } _n[8]; /* bpf_relay: packet */'
printf 'interface 2 0 eth two\n' >"$out/packets/.names"
"$bpfrelay" export "$out/packets" --format pcapng >"$out/pcapng" 2>"$out/err" &&
	tshark -r "$out/pcapng" -T json -x 2>"$out/tshark" | jq -r '.[]._source.layers |
		[.frame["frame.time_epoch"], .frame["frame.len"], .frame["frame.interface_id_tree"]["frame.interface_name"],
		 .frame_raw[0]] | join(" ")' >"$out/got"
"$bpfrelay" cat --mono "$trace" --type one | sed -n 's/^0\(\.[0-9]*\) .* n=\([0-9]*\) cpu=\([0-9]*\) .*/\1 \2 \3/p' |
	awk '{ name = $3 == 0 ? "gen.7" : $3 == 1 ? "if1" : "eth two"
	       printf "1700000000%s 8 %s %02x%02x000000000000\n", $1, name, $2 % 256, $2 / 256 }' >"$out/want"
[ -s "$out/want" ] && cmp -s "$out/want" "$out/got"
result $? "pcapng: tshark reads times, lengths, interfaces and bytes"
grep -q "records left out, of types that have no place in pcapng" "$out/err"
result $? "pcapng: says what has no place in it"

# Drops that CTF counts: 5 before the second packet of CPU 0 ended.
for at in 4096 8192; do
	printf '\5' | dd of="$out/packets/cpu0" bs=1 seek=$((at + 72)) conv=notrunc 2>/dev/null
done
"$bpfrelay" cat "$out/packets" | grep -c '^# cpu 0: 5 records dropped' >"$out/want" &&
	"$bpfrelay" export "$out/packets" --format pcapng 2>"$out/err" |
	tshark -r - -T fields -e frame.drop_count 2>"$out/tshark" | grep -cx 5 >"$out/got"
[ "$(cat "$out/want" "$out/got")" = "$(printf '1\n1')" ]
result $? "pcapng: what was dropped is counted at the next packet"

retyped stacks 'integer { size = 64; align = 8; signed = false; base = 16; } _n; /* bpf_relay: stack */'
printf 'kernel 0 7 seven;up\nkernel 0 8 eight\n' >"$out/stacks/.names"
"$bpfrelay" export "$out/stacks" --format folded >"$out/got" 2>"$out/err"
"$bpfrelay" cat --mono "$trace" --type one | sed -n 's/.* n=\([1-9][0-9]*\) .*/\1/p' |
	awk '{ if ($1 == 7) print "seven:up 1"; else if ($1 == 8) print "eight 1"; else printf "0x%x 1\n", $1 }' |
	LC_ALL=C sort >"$out/want"
[ -s "$out/want" ] && cmp -s "$out/want" "$out/got" && grep -q "some addresses have no names" "$out/err"
result $? "folded: stacks with the names that were kept"

# ---- Bad input --------------------------------------------------------------------------

check 2 "format is missing: one of jsonl, chrome, openmetrics, pcapng, folded" export "$trace"
check 2 "format xml: must be one of jsonl" export "$trace" --format xml
check 2 "which LOG" export --format chrome
check 1 "no type of it has a member that is a packet" export "$trace" --format pcapng
check 1 "no type of it has a member that is a stack" export "$trace" --format folded
check 1 "is a copy, which has no counters" export "$out/threads" --format openmetrics
check 1 "no type has a field" export "$trace" --format chrome -e 'x == 1'
check 1 "has no such CPU" export "$trace" --format chrome --cpu 9
printf 'interface 3 0 eth0\nnonsense\n' >"$out/threads/.names"
check 0 "/.names: 1 line passed over" export "$out/threads" --format chrome
"$bpfrelay" export "$trace" --format chrome >/dev/full 2>"$out/err"
[ $? = 1 ] && grep -q "No space left" "$out/err"
result $? "a full disk is an error"

ktap_end
