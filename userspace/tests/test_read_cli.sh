#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_read_cli.sh BPFRELAY TRACE_MAKE: the commands that read, on traces that are known.
# Needs no module.
# shellcheck disable=SC2016 # awk's, not the shell's

bpfrelay=$1
make=$2
suite='read'
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

# WHAT COMMAND...: its output is that of COMMAND, and nothing is on stderr.
same()
{
	what=$1
	shift
	"$@" >"$out/want"
	"$bpfrelay" "${args[@]}" >"$out/got" 2>"$out/err"
	got=$?
	[ $got = 0 ] && [ ! -s "$out/err" ] && cmp -s "$out/want" "$out/got"
	result $? "$what"
}

trace=$out/trace
text=$out/text
"$make" "$trace" 3 700 0 >"$text"

args=(cat --mono "$trace")
same "cat: all records as text" cat "$text"
args=(cat --mono -n 13 "$trace")
same "cat: the newest 13" tail -13 "$text"
args=(cat --mono --cpu 1 "$trace")
same "cat: one CPU" grep ' cpu1 ' "$text"
args=(cat --mono --cpu "0,2" "$trace")
same "cat: two CPUs" grep -v ' cpu1 ' "$text"
args=(cat --mono --type more "$trace")
same "cat: one type" grep ' more n=' "$text"
args=(cat --mono --type one -n 3 "$trace")
same "cat: the newest 3 of one type" sh -c "grep ' one ' '$text' | tail -3"
args=(cat --mono -e 'check <= -500 && cpu != 1' "$trace")
same "cat: by a filter" awk '!/ cpu1 / && match($0, /check=-[0-9]+/) && substr($0, RSTART + 7) + 0 >= 500' "$text"
args=(cat --mono -e 'type == "raw"' -n 5 "$trace")
same "cat: the newest 5 that a filter wants" sh -c "grep ' raw ' '$text' | tail -5"
args=(cat --mono -e 'more[0] & 1' --type more "$trace")
same "cat: a type, and a filter of elements" grep -E 'more=\[[0-9]*[13579][],]' "$text"
# The clock's offset is 2023-11-14T22:13:20Z.
args=(cat --mono --since 2023-11-14T22:13:20.0010005Z "$trace")
same "cat: since, in UTC" awk '$1 >= 0.0010005' "$text"
args=(cat --mono --until 2023-11-15T00:13:20.0010005+02:00 "$trace")
same "cat: until, in another zone" awk '$1 <= 0.0010005' "$text"
newest=$(tail -1 "$text" | cut -d' ' -f1)
args=(cat --mono --since 300ns "$trace")
same "cat: so long before the newest" awk -v newest="$newest" '$1 >= newest - 0.00000030001' "$text"
args=(cat --mono --complete "$trace")
same "cat: all of it is complete" cat "$text"

to_utc()
{
	awk '{ sub(/^0\./, "2023-11-14T22:13:20."); sub(/ /, "Z "); print }' "$text"
}
args=(cat --utc "$trace")
same "cat: times in UTC" to_utc
to_local()
{
	awk '{ sub(/^0\./, "2023-11-15T03:43:20."); sub(/ /, "+05:30 "); print }' "$text"
}
export TZ=XXX-5:30
args=(cat "$trace")
same "cat: local times with the offset" to_local
unset TZ

"$bpfrelay" cat -j "$trace" >"$out/json" && [ "$(jq -s length "$out/json")" = 700 ]
result $? "cat -j: 700 lines of JSON"
jq -r 'select(.type != "raw") | "\(.cpu) \(.type) \(.fields.n) \(.fields.check) \((.fields.more // []) | map(tostring) | join(","))"' \
	"$out/json" >"$out/got"
sed -n 's/^[^ ]* cpu\([0-9]*\) \([a-z]*\) n=\([0-9]*\) cpu=[0-9]* check=\([-0-9]*\)\( more=\[\(.*\)\]\)\{0,1\}$/\1 \2 \3 \4 \6/p' \
	"$text" >"$out/want"
[ -s "$out/want" ] && cmp -s "$out/want" "$out/got"
result $? "cat -j: the same records"

for args in cat show; do
	"$bpfrelay" $args -p "$trace" >"$out/got" && [ "$(head -1 "$out/got")" = "{" ] &&
		cmp -s <(jq -c . "$out/got") <("$bpfrelay" $args -j "$trace" | jq -c .)
	result $? "$args -p: the same, in indented lines"
done

babeltrace2 "$trace" 2>"$out/err" | sed -n 's/.* n = \([0-9]*\), cpu = \([0-9]*\), check = \([-0-9]*\).*/\1 \2 \3/p' >"$out/got"
sed -n 's/.* n=\([0-9]*\) cpu=\([0-9]*\) check=\([-0-9]*\).*/\1 \2 \3/p' "$text" >"$out/want"
[ ! -s "$out/err" ] && [ -s "$out/want" ] && cmp -s <(sort -n "$out/want") <(sort -n "$out/got")
result $? "babeltrace2 reads the same records"
python3 ../selftests/ctf_reader.py "$trace" >"$out/got" 2>"$out/err" && cmp -s "$text" "$out/got"
result $? "so does a reader that was made from the format's description"

"$bpfrelay" show "$trace" >"$out/out" && grep -q '^type 2: more, 16 bytes or more$' "$out/out" &&
	grep -q '^    int16 check$' "$out/out" && grep -q '^    uint32\[\] more$' "$out/out"
result $? "show: types and fields"
"$bpfrelay" show -j "$trace" | jq -e '.types | length == 3' >/dev/null
result $? "show -j"

when()	# TEXT: that of its last record, in the local time zone
{
	echo "2023-11-14T22:13:20.$(tail -1 "$1" | sed 's/^0\.\([0-9]*\) .*/\1/')+00:00"
}
export TZ=UTC
last=$(when "$text")
"$bpfrelay" snapshot "$trace" "$out/snap" >"$out/out" && diff -r "$trace" "$out/snap" >/dev/null &&
	[ "$(stat -c %a "$out/snap" "$out/snap/cpu0" | tr '\n' ' ')" = "700 600 " ] &&
	[ "$(cat "$out/out")" = "$out/snap: 700 records, complete since the log was opened until $last" ]
result $? "snapshot"
"$make" "$out/late" 3 700 9 >"$out/late.text"
last=$(when "$out/late.text")
"$bpfrelay" snapshot "$out/late" "$out/snap2" | grep -q "complete since 2023-11-.* until $last\$" &&
	[ "$("$bpfrelay" snapshot -j "$out/late" "$out/snap3" | jq -r .complete_until)" = "$last" ]
result $? "snapshot: says of when it is complete"
check 1 "exists already" snapshot "$trace" "$out/snap"
check 1 "No such file" snapshot "$trace" "$out/no/such"
(trap '' XFSZ; ulimit -f 4; "$bpfrelay" snapshot "$trace" "$out/large" >"$out/out" 2>"$out/err")
[ $? = 1 ] && grep -q "large: File too large" "$out/err" && ! ls -d "$out"/large* >/dev/null 2>&1
result $? "snapshot: one that cannot be written leaves nothing"
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$out" "$trace"
	mkdir -m 755 "$out/rootonly"
	setpriv --reuid 65534 --clear-groups "$bpfrelay" snapshot "$trace" "$out/rootonly/x" 2>"$out/err"
	[ $? = 1 ] && grep -q "rootonly/x: Permission denied" "$out/err"
	result $? "snapshot: says where it may not write"
	# shellcheck disable=SC2016
	unshare -m sh -c 'mkdir "$3" && mount -t tmpfs -o size=16k tmpfs "$3" &&
		! "$1" snapshot "$2" "$3/x" 2>"$4" && [ -z "$(ls -A "$3")" ]' \
		sh "$bpfrelay" "$trace" "$out/small" "$out/err" && grep -q "x: No space left" "$out/err"
	result $? "snapshot: a full disk is an error and leaves nothing"
fi

# Progress is for terminals and large logs.
escape=$(printf '\033')
in_terminal()	# TERM ARGS...: what is for the terminal
{
	local term=$1
	shift
	TERM=$term script -qec "exec '$bpfrelay' $*" /dev/null </dev/null
}
in_terminal_until()	# PATTERN TERM ARGS...: the same, in $out/got, until that was there
{
	local pattern=$1 pid
	shift
	in_terminal "$@" >"$out/got" &
	pid=$!
	for _ in $(seq 300); do
		grep -q "$pattern" "$out/got" && break
		sleep 0.1
	done
	pkill -P $pid
	wait $pid 2>/dev/null
	:
}
"$make" "$out/big" 3 250000 0 >/dev/null
in_terminal xterm snapshot "$out/big" "$out/big2" >"$out/out"
grep -q "100% of 14 MiB" "$out/out" && ! grep -q "101%" "$out/out"
result $? "snapshot: shows its progress in a terminal"
rm -r "$out/big2"
"$bpfrelay" snapshot "$out/big" "$out/big2" 2>&1 | grep -q %
[ $? = 1 ] && ! in_terminal dumb snapshot "$trace" "$out/snap4" | grep -q %
result $? "snapshot: elsewhere it does not, and not of a small log"

# A signal that is pending from the start.
# shellcheck disable=SC2016
env --block-signal=INT sh -c 'kill -INT $$ && exec "$@"' sh "$bpfrelay" snapshot "$out/big" "$out/ended" \
	>"$out/out" 2>"$out/err"
[ $? = 1 ] && grep -q "ended: interrupted, nothing is left of it$" "$out/err" &&
	! ls -d "$out"/ended* >/dev/null 2>&1
result $? "snapshot: Ctrl-C leaves nothing"

# Counters: a log's directory has a file stats beside ctf/.
counters()	# TIME STORED DROPPED CPUS
{
	echo "subbuf_size: 4096
n_subbufs: 8
memory: 131072
mode: overwrite"
	for cpu in $(seq 0 $(($4 - 1))); do
		echo "
cpu: $cpu
entries: 5
stored events: $(($2 * (cpu + 1)))
dropped events: $3
now ts: $1.000000000"
	done
	echo "
cpu: $4 (no buffer)"
}
mkdir -p "$out/logs/gen.7"
cp -r "$trace" "$out/logs/gen.7/ctf"
stats=$out/logs/gen.7/stats
counters 10 1000 3 2 >"$stats"
"$bpfrelay" stats "$out/logs/gen.7" | tr -s ' ' >"$out/got"
printf '%s\n' "CPU READABLE STORED OVERWRITTEN DISCARDED OPEN DROPPED" "0 5 1000 0 0 0 3" \
	"1 5 2000 0 0 0 3" "all 10 3000 0 0 0 6" | cmp -s "$out/got"
result $? "stats: each CPU that has a buffer, and all"
"$bpfrelay" stats -j "$out/logs/gen.7" | jq -e '(.cpus | length == 3) and .all.stored == 3000 and
	.all.now_ts == 10000000000 and .all.nesting_max == 0 and (.all | has("per_second") | not)' >/dev/null
result $? "stats -j"

# ARGS...: with an interval, while 500 records a second are stored on the first CPU.
grows()
{
	counters 10 1000 3 2 >"$stats"
	"$bpfrelay" stats "$@" "$out/logs/gen.7" 0.05 >"$out/got" &
	local pid=$!
	for _ in $(seq 100); do
		[ -s "$out/got" ] && break
		sleep 0.1
	done
	counters 12 2000 7 2 >"$stats.new"
	mv "$stats.new" "$stats"
	for _ in $(seq 100); do
		grep -qE ' 500|:500' "$out/got" && break
		sleep 0.1
	done
	kill $pid
	wait $pid 2>/dev/null
	:
}
grows
tr -s ' ' <"$out/got" | grep -qx "0 5 2000 0 0 0 7 500 0 0 2" &&
	tr -s ' ' <"$out/got" | grep -qx "all 10 6000 0 0 0 14 1500 0 0 4" && ! grep -q "$escape" "$out/got"
result $? "stats INTERVAL: rates of each CPU and of all; no control codes"
grows -j
jq -se 'any(.cpus[0].per_second.stored == 500 and .all.per_second.stored == 1500)' "$out/got" >/dev/null
result $? "stats -j INTERVAL: rates"
counters 10 1000 3 40 >"$stats"
in_terminal_until "$escape\[H" xterm stats "$out/logs/gen.7" 0.2
grep -q "$escape\[H" "$out/got" && grep -q "^\.\.\. and 20 more CPUs" "$out/got" &&
	[ "$(sed "/$escape/,\$!d" "$out/got" | awk '/more CPUs/ { exit } { n++ } END { print n }')" -le 22 ]
result $? "stats INTERVAL: in place in a terminal, and no more than it holds"
in_terminal_until "^39 " dumb stats "$out/logs/gen.7" 0.2
grep -q "^39 " "$out/got" && ! grep -q "$escape" "$out/got"
result $? "stats INTERVAL: below each other in a dumb one"
touch -d '3 hours ago' "$out/logs/gen.7/ctf"
"$bpfrelay" show "$out/logs/gen.7" >"$out/got" && grep -q "^opened: *20.*, [0-9]*[smhd] ago$" "$out/got"
result $? "show: when it was opened"
for c in cat list show snapshot stats; do
	case $c in list) arg= ;; snapshot) arg="$trace $out/snap9" ;; stats) arg=$out/logs/gen.7 ;; *) arg=$trace ;; esac
	# shellcheck disable=SC2086
	"$bpfrelay" $c $arg >/dev/full 2>"$out/err"
	[ $? = 1 ] && [ "$(wc -l <"$out/err")" = 1 ] &&
		{ grep -q "No space left" "$out/err" || [ "$c" = list ]; }
	result $? "$c: a full disk is an error"
done

# The first write fails, later ones do not: why is still known.
if strace -o /dev/null true 2>/dev/null; then
	for c in cat show; do
		ASAN_OPTIONS=detect_leaks=0 strace -qq -o /dev/null -e trace=write -P "$out/got" \
			-e inject=write:error=EDQUOT:when=1 "$bpfrelay" $c "$trace" >"$out/got" 2>"$out/err"
		[ $? = 1 ] && grep -q "cannot write to standard output: Disk quota exceeded$" "$out/err"
		result $? "$c: a write that failed is said with its reason"
	done
fi

# Bad input.
check 2 "which LOG" cat
check 2 "unknown option --nosuch" cat --nosuch "$trace"
check 2 "unknown option -x " cat -xj "$trace"
check 2 "unknown option -x " cat -jx "$trace"
check 2 "json takes no value" cat --json=1 "$trace"
for when in 5x 2023-11-14 2023-11-14T22:13:20 yesterday ""; do
	check 2 "--since $when: must be" cat --since "$when" "$trace"
done
check 2 "-n 0: must be" cat -n 0 "$trace"
check 2 "--cpu 1,x: must be" cat --cpu 1,x "$trace"
check 2 "INTERVAL 0: must be" stats "$trace" 0
check 2 "which DIR" snapshot "$trace"
check 2 "DIR is empty" snapshot "$trace" ""
check 1 "no such CPU" cat --cpu 7 "$trace"
check 1 "has no type 'two'; it has raw, one, more" cat --type two "$trace"
check 1 "filter, column 4: ends where" cat -e 'n >' "$trace"
check 1 "no type has a field 'm'; raw has data; one has n, cpu, check; more has n, cpu, check, more" \
	cat -e 'm == 1' "$trace"
check 2 "-e needs a value" cat "$trace" -e
check 1 "is no log" cat "$out/"
check 1 "No such file" cat "$out/nosuch/"
check 1 "is a copy, which has no counters" stats "$trace"

# A damaged packet is said and the rest is read.
cp -r "$trace" "$out/damaged"
printf 'x' | dd of="$out/damaged/cpu0" bs=1 seek=4096 conv=notrunc 2>/dev/null
says 1 "packet 1 does not begin as a packet does" cat --mono "$out/damaged" &&
	[ "$(grep -c '^# cpu 0: a packet is damaged' "$out/out")" = 1 ] &&
	[ "$(grep -vc '^#' "$out/out")" -gt 600 ]
result $? "cat: says what is damaged and goes on"
sed -i 's/_check;/_check[;/' "$out/damaged/metadata"
check 1 "metadata, line [0-9]*: ';' where a number should be" cat "$out/damaged"

# Output that nobody wants.
# shellcheck disable=SC2016
bash -c '"$0" cat "$1" 2>"$2" | head -1 >/dev/null' "$bpfrelay" "$trace" "$out/err"
[ ! -s "$out/err" ]
result $? "cat: a broken pipe is quiet"
(trap '' PIPE; "$bpfrelay" cat "$trace" 2>"$out/err" | head -1 >/dev/null)
[ ! -s "$out/err" ]
result $? "cat: also if SIGPIPE is ignored"
(trap '' PIPE; timeout 10 "$bpfrelay" stats "$out/logs/gen.7" 0.05 2>"$out/err" | head -1 >/dev/null
	[ "${PIPESTATUS[0]}" = 1 ]) && [ ! -s "$out/err" ]
result $? "stats: ends when nobody reads any more"

# Follow: a trace that gets longer.
"$make" "$out/all" 4 600 0 >"$out/all.text"
cp -r "$out/all" "$out/grows"
for cpu in 0 1 2; do
	truncate -s 4096 "$out/grows/cpu$cpu"
done
timeout -s INT 20 "$bpfrelay" cat -f --mono "$out/grows" >"$out/got" 2>"$out/err" &
follower=$!
for _ in $(seq 100); do
	[ "$(wc -l <"$out/got")" -gt 0 ] && break
	sleep 0.1
done
before=$(wc -l <"$out/got")
for cpu in 0 1 2; do
	cat "$out/all/cpu$cpu" >"$out/grows/cpu$cpu"
done
for _ in $(seq 100); do
	[ "$(wc -l <"$out/got")" = 600 ] && break
	sleep 0.1
done
kill $follower
wait $follower 2>/dev/null
[ "$before" -gt 0 ] && [ "$before" -lt 600 ] && cmp -s <(sort "$out/all.text") <(sort "$out/got")
result $? "cat -f: $before records, and then the others"

# The check itself is able to fail.
args=(cat --mono -n 12 "$trace")
[ "$(same x tail -13 "$text" | cut -c1-3)" = not ]
result $? "control, other output is found out"

ktap_end
