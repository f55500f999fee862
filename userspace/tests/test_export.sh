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
	python3 "$out/chrome.py" "$out/out" 2>"$out/err" | grep -q '^lost [0-9]* CPU 0$' &&
	jq -e '[.traceEvents[] | select(.name == "lost").args] ==
		[{"records": null, "reason": "damaged"}]' "$out/out" >/dev/null
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

# An index that is none is no name, and no other interface's.
retyped indices 'integer { size = 8; align = 8; signed = false; base = 16; } _n[8]; /* bpf_relay: packet */'
sed -i '/"one"/,/_check/s|size = 32; align = 8; signed = false; } _cpu|size = 32; align = 8; signed = true; } _cpu|' \
	"$out/indices/metadata"
python3 - "$out/indices" <<'PY'
# Of the records with cpu=2 that becomes -2.
import glob, struct, sys
for name in glob.glob(sys.argv[1] + "/cpu2"):
    data = bytearray(open(name, "rb").read())
    for packet in range(0, len(data), 4096):
        at, end = packet + 88, packet + struct.unpack_from("<Q", data, packet + 48)[0] // 8
        while at < end:
            ts, kind, state, size = struct.unpack_from("<QHHI", data, at)
            if kind == 1:
                struct.pack_into("<i", data, at + 24, -2)
            size = 16 + 4 * size if kind == 2 else size
            at += (16 + size + 7) & ~7
    open(name, "wb").write(data)
PY
"$bpfrelay" export "$out/indices" --format pcapng 2>"$out/err" |
	tshark -r - -T fields -e frame.interface_name 2>"$out/tshark" | sort -u >"$out/got"
[ "$(tr '\n' ' ' <"$out/got")" = "gen.7 if-2 if1 " ]
result $? "pcapng: an interface with a negative index"

retyped stacks 'integer { size = 64; align = 8; signed = false; base = 16; } _n; /* bpf_relay: stack */'
printf 'kernel 0 6 six;up\nkernel 0 11 seventeen\n' >"$out/stacks/.names"
"$bpfrelay" export "$out/stacks" --format folded >"$out/got" 2>"$out/err"
"$bpfrelay" cat --mono "$trace" --type one | sed -n 's/.* n=\([1-9][0-9]*\) .*/\1/p' |
	awk '{ if ($1 == 6) print "six:up 1"; else if ($1 == 17) print "seventeen 1"; else printf "0x%x 1\n", $1 }' |
	LC_ALL=C sort >"$out/want"
grep -q six "$out/want" && cmp -s "$out/want" "$out/got" && grep -q "some addresses have no names" "$out/err"
result $? "folded: stacks with the names that were kept"

# ---- Names in text: of a copy, those that were kept ------------------------------------------

retyped symbols 'integer { size = 64; align = 8; signed = false; base = 16; } _n; /* bpf_relay: ksym */'
printf 'kernel 0 6 six+0x6/0x9 [up]\nkernel 0 11 seventeen\n' >"$out/symbols/.names"
"$bpfrelay" cat --mono "$out/symbols" --type one | sed 's/.* n=\([^ ]*\) .*/\1/' >"$out/got"
"$bpfrelay" cat --mono "$trace" --type one | sed 's/.* n=\([^ ]*\) .*/\1/' |
	awk '{ if ($1 == 6) print "six+0x6/0x9[up]"; else if ($1 == 17) print "seventeen"; else printf "0x%x\n", $1 }' >"$out/want"
grep -q six "$out/want" && grep -q seventeen "$out/want" && cmp -s "$out/want" "$out/got"
result $? "cat: kernel addresses of a copy by the names that were kept"
"$bpfrelay" snapshot "$out/symbols" "$out/again" >"$out/out" && cmp -s "$out/symbols/.names" "$out/again/.names"
result $? "snapshot: of a copy, its names are kept again"

if [ "$(id -u)" = 0 ]; then
	chmod 755 "$out"
	chmod -R a+rX "$out/symbols"
	chmod 600 "$out/symbols/.names"
	setpriv --reuid 65534 --clear-groups "$bpfrelay" cat "$out/symbols" >"$out/got" 2>"$out/err" &&
		grep -q "/.names: Permission denied: going on without" "$out/err" &&
		[ "$(wc -l <"$out/got")" = 500 ] && ! grep -q seventeen "$out/got"
	result $? "cat: without the names that may not be read"
fi

# Processes: names are for records from when theirs began. A trace of this boot, with two
# records of the stack of a process: before it began, and after.
cat >"$out/stacks.py" <<'PY'
# stacks.py TRACE NEW PID ADDRESS
import os, re, struct, sys, time
trace, new, pid, address = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4], 16)
text = open(trace + "/metadata").read()
number = "\t\tinteger { size = 64; align = 8; signed = false; base = 16; } "
fields = number + "_kernel[1]; /* bpf_relay: stack */\n" + number + "_user[2];\n" + \
    number.replace(" base = 16;", "") + "_pid;\n"
text = re.sub(r'(name = "one";.*?fields := struct \{\n).*?(\t\} align)', lambda m: m[1] + fields + m[2], text, flags=re.S)
boot = open("/proc/sys/kernel/random/boot_id").read().strip()
text = re.sub(r'(clock \{.*?uuid = )"[^"]*"', lambda m: f'{m[1]}"{boot}"', text, flags=re.S)
os.mkdir(new)
open(new + "/metadata", "w").write(text)
now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
stat = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
began = int(stat[19]) * 10**9 // os.sysconf("SC_CLK_TCK")
old = open(trace + "/cpu0", "rb").read(4096)
packet = bytearray(4096)
packet[:88] = old[:88]
at = 88
for ts in began - 1, now:
    struct.pack_into("<QHHIQQQQ", packet, at, ts, 1, 2, 32, 0x77, address, 0, pid)
    at += 48
struct.pack_into("<QQQ", packet, 32, began - 1, now, at * 8)
for cpu in range(3):
    open(f"{new}/cpu{cpu}", "wb").write(b"" if cpu else packet)
PY
sleep 600 &
sleeper=$!
for _ in $(seq 100); do
	[ "$(cat /proc/$sleeper/comm)" = sleep ] && break
	sleep 0.1
done
address=$(awk '/ r-xp .*\/(sleep|coreutils)$/ { sub(/-.*/, "", $1); print $1; exit }' /proc/$sleeper/maps)
python3 "$out/stacks.py" "$trace" "$out/users" $sleeper "$address" 2>"$out/err" &&
	"$bpfrelay" export "$out/users" --format folded 2>"$out/err" >"$out/folded" &&
	[ "$(grep -c ';0x77 1$' "$out/folded")" = 2 ] &&
	grep -qx "0x0*$address;0x77 1" "$out/folded" && grep -qE '^(sleep|coreutils)\+0x[0-9a-f]*;0x77 1$' "$out/folded"
result $? "folded: a record from before its process began has not that one's names"
"$bpfrelay" snapshot "$out/users" "$out/users2" >"$out/out" && grep -q "^process $sleeper 0 [1-9]" "$out/users2/.names"
result $? "snapshot: keeps when the process began"
kill $sleeper
wait $sleeper 2>/dev/null
"$bpfrelay" export "$out/users2" --format folded 2>"$out/err" | cmp -s "$out/folded"
result $? "folded: the same when the process is gone"
sed -i '/^process/d' "$out/users2/.names"
"$bpfrelay" export "$out/users2" --format folded 2>"$out/err" | cmp -s "$out/folded"
[ $? = 1 ]
result $? "control, without that both records have the name"

# ---- A file ------------------------------------------------------------------------------

"$bpfrelay" export "$trace" --format chrome >"$out/want"
(umask 027; "$bpfrelay" export "$trace" --format chrome -o "$out/file" >"$out/out" 2>"$out/err") &&
	[ ! -s "$out/out" ] && [ ! -s "$out/err" ] && cmp -s "$out/want" "$out/file" &&
	[ "$(stat -c %a "$out/file")" = 640 ]
result $? "-o: the same in a file, with the umask's mode"
echo old >"$out/old"
ln -s old "$out/link"
"$bpfrelay" export "$trace" --format jsonl --output "$out/link" && [ -L "$out/link" ] &&
	"$bpfrelay" cat -j "$trace" | cmp -s - "$out/old"
result $? "-o: replaces a file, also behind a link"
echo old >"$out/old"
mkdir "$out/empty"
check 1 "has no such CPU" export "$trace" --format jsonl --cpu 9 -o "$out/old"
check 1 "is a packet" export "$trace" --format pcapng -o "$out/empty/new"
for file in old empty/new; do
	(trap '' XFSZ; ulimit -f 4; "$bpfrelay" export "$trace" --format jsonl -o "$out/$file" 2>"$out/err")
	[ $? = 1 ] && grep -q "cannot write to .*/$file: File too large" "$out/err"
	result $? "-o $file: cannot be written"
	# A signal that is pending from the start.
	env --block-signal=INT sh -c 'kill -INT $$ && exec "$@"' sh "$bpfrelay" export "$trace" \
		--format jsonl -o "$out/$file" 2>"$out/err"
	[ $? = 1 ] && grep -q "$file: interrupted" "$out/err"
	result $? "-o $file: Ctrl-C"
done
[ "$(cat "$out/old")" = old ] && [ -z "$(ls -A "$out/empty")" ] && [ "$(ls "$out"/old*)" = "$out/old" ]
result $? "-o: what failed has changed nothing, and left nothing"
check 1 "Is a directory" export "$trace" --format jsonl -o "$out/empty"
check 1 "No such file" export "$trace" --format jsonl -o "$out/no/such"
check 1 "cannot write to .*full: No space left" export "$trace" --format jsonl -o /dev/full
"$bpfrelay" export "$trace" --format chrome -o - | cmp -s "$out/want" &&
	"$bpfrelay" export "$trace" --format chrome -o /dev/stdout | cat | cmp -s "$out/want"
result $? "-o: to standard output"
"$bpfrelay" export "$out/damaged" --format chrome -o "$out/whole" 2>"$out/err"
[ $? = 1 ] && python3 "$out/chrome.py" "$out/whole" | grep -q '^lost'
result $? "-o: of a log with a damaged packet there is what can be had"

# ---- Bad input --------------------------------------------------------------------------

check 2 "format is missing: one of jsonl, chrome, openmetrics, pcapng, folded" export "$trace"
check 2 "format xml: must be one of jsonl" export "$trace" --format xml
for option in "-n 5" "-e cpu==1" "--cpu 0" "--since 5m" "--until 5m" "--type one" --complete --ctf; do
	case $option in -n*) long=--newest ;; -e*) long=--filter ;; *) long=${option%% *} ;; esac
	# shellcheck disable=SC2086 # words
	check 2 "export: $long selects records, of which openmetrics has none" \
		export "$trace" --format openmetrics $option
done
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
