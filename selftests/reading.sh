#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reading while all CPUs write as fast as they can: a follower; SNAPSHOTS=5 in a row, each
# read by babeltrace2; idle, slow and fast CPUs; how much memory it takes to read a log of
# 64 MiB. As root, with BUILD set, bpfrelay in PATH and the module loaded.
set -u

test=reading
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
trap 'stop_writers; programs_cleanup' EXIT

writers=()

# CPU [SECONDS]: calls the function that the log's program is at, without an end, or that often.
start_writer()
{
	if [ $# = 1 ]; then
		echo "tick 2000000000" | taskset -c "$1" busy >/dev/null &
	else
		while echo "tick 1" && sleep "$2"; do :; done | taskset -c "$1" busy >/dev/null &
	fi
	writers+=($!)
}

stop_writers()
{
	[ ${#writers[@]} = 0 ] || kill "${writers[@]}" 2>/dev/null
	[ ${#writers[@]} = 0 ] || wait "${writers[@]}" 2>/dev/null
	writers=()
}

# KEY NUMBER: waits until the log's counter is at least that.
wait_for()
{
	for _ in $(seq 600); do
		[ "$(stats_of types "$1")" -ge "$2" ] && return
		sleep 0.1
	done
	return 1
}

lines=0 all=0

# COMMAND...: babeltrace2 has nothing to say but what was overwritten while it was copied,
# which is what it calls discarded; its records, in lines, in $lines.
reads()
{
	"$@" >"$tmp/read" 2>"$tmp/err" && lines=$(wc -l <"$tmp/read") && [ "$lines" -gt 0 ] &&
		! grep -Ev '^WARNING: Tracer (discarded [0-9]+|may have discarded) events? between ' "$tmp/err"
}

echo "KTAP version 1"

# From the first record on, for as long as it is written.
says 0 "^types: " load "$BUILD/selftests/types.bpf.o" --size 64K --count 4
result $? "a log of every type"
for how in "" --ctf; do
	bpfrelay unload types >/dev/null
	bpfrelay load "$BUILD/selftests/types.bpf.o" --size 64K --count 4 >/dev/null
	# shellcheck disable=SC2086 # nothing, or an option
	bpfrelay cat -f $how types >"$tmp/follow" 2>"$tmp/err" &
	follower=$!
	# It has to sleep once: at full speed it may never come to that.
	for _ in $(seq 600); do
		! grep -q poll /proc/$follower/wchan || break
		sleep 0.1
	done
	for cpu in 0 1 2 3; do
		start_writer $cpu
	done
	wait_for "overrun" 20000
	sleep 2
	stop_writers
	bpfrelay stop types >/dev/null
	stored=$(stats_of types "stored events")
	for _ in $(seq 60); do
		sleep 1
		followed=$(grep -vc '^#' "$tmp/follow")
		lost=$(awk '/^# cpu [0-9]*: [0-9]* records/ { n += $4 } END { print n + 0 }' "$tmp/follow")
		[ $((followed + lost)) -lt "$stored" ] || break
	done
	kill $follower
	wait $follower 2>/dev/null
	# From ctf/ a number may come later than the loss.
	echo "# $followed followed, $lost lost, $stored stored, $(stats_of types wakeups) wakeups;" \
		"$(grep -c 'how many is not known yet$' "$tmp/follow") times not known at once"
	[ "$followed" -gt 0 ] && [ $((followed + lost)) = "$stored" ]
	result $? "cat -f $how: all that was stored at full speed is seen or counted"
	[ "$(stats_of types wakeups)" -gt 0 ]
	result $? "cat -f $how: sleeps until the log wakes it"
done

bpfrelay start types >/dev/null
for cpu in 0 1 2 3; do
	start_writer $cpu
done
good=0 whole=0
: "${SNAPSHOTS:=5}"
for i in $(seq "$SNAPSHOTS"); do
	stored=$(stats_of types "stored events")
	bpfrelay snapshot types "$tmp/snapshot" >"$tmp/out" 2>"$tmp/err" || break
	reads babeltrace2 "$tmp/snapshot" || break
	[ -s "$tmp/err" ] || whole=$((whole + 1))
	rm -r "$tmp/snapshot"
	[ "$(stats_of types "stored events")" -gt "$stored" ] || break
	good=$i
	[ $((i % 50)) != 0 ] || echo "# $i snapshots"
done
echo "# of $whole nothing was overwritten while they were taken"
[ "$good" = "$SNAPSHOTS" ]
result $? "$good snapshots in a row at full speed, each read by babeltrace2"
stop_writers

# 16 MiB for each CPU, of which 0 and 3 have nothing at all.
bpfrelay unload types >/dev/null
bpfrelay load "$BUILD/selftests/types.bpf.o" --size 1M --count 16 >/dev/null
start_writer 1 0.01
start_writer 2
wait_for "overrun" 1000
rm -rf "$tmp/snapshot"
bpfrelay snapshot types "$tmp/snapshot" >"$tmp/out" 2>"$tmp/err" && reads babeltrace2 "$tmp/snapshot" &&
	all=$lines && reads babeltrace2 --stream-intersection "$tmp/snapshot" &&
	[ "$lines" -le "$all" ]
result $? "an idle, a slow and a fast CPU: babeltrace2 --stream-intersection has $lines of $all"
stop_writers

# DATA PEAK WHAT COMMAND...: has no more than DATA KiB of its own, and no more than PEAK with
# code and libraries; how much that was is said.
within()
{
	local data=$1 peak=$2 what=$3 status
	shift 3
	(ulimit -d "$data" && exec peak "$tmp/peak" "$@" >"$tmp/read" 2>"$tmp/err")
	status=$?
	echo "# $what: at most $(cat "$tmp/peak") KiB in memory"
	[ $status = 0 ] && [ "$(cat "$tmp/peak")" -gt 1000 ] && [ "$(cat "$tmp/peak")" -le "$peak" ]
}
# How many CPUs' buffers are full.
full()
{
	awk -F ': ' '$1 == "overrun" && $2 { n++ } END { print n + 0 }' $logs/types.*/stats
}
for cpu in 0 1 2 3; do
	start_writer $cpu
done
for _ in $(seq 1200); do
	[ "$(full)" -lt 4 ] || break
	sleep 0.1
done
stop_writers
bpfrelay stop types >/dev/null
# (Of the small records a third is header.)
[ "$(full)" = 4 ] && [ "$(stats_of types bytes)" -gt $((32 << 20)) ]
result $? "64 MiB, all of them full: $(stats_of types entries) records"
rm -rf "$tmp/snapshot"
within 8192 8192 stats bpfrelay stats types
result $? "stats of 64 MiB: less than 8 MiB"
within 8192 8192 "cat --ctf" bpfrelay cat --ctf --type types_words types
result $? "cat of 64 MiB, from ctf/: less than 8 MiB"
# What it maps is the log's, and is not counted.
within 8192 8192 cat bpfrelay cat --type types_words types
result $? "cat of 64 MiB: less than 8 MiB"
# Kernel addresses take the kernel's names.
within 24576 24576 "cat --ctf, with names" bpfrelay cat --ctf types && grep -q "where=schedule+0x1/0x" "$tmp/read"
result $? "cat of 64 MiB, with names: less than 24 MiB"
within 24576 24576 "snapshot, with names" bpfrelay snapshot types "$tmp/snapshot" &&
	grep -q "^kernel 0 [0-9a-f]* schedule+0x1/0x" "$tmp/snapshot/.names"
result $? "snapshot of 64 MiB, with names: less than 24 MiB"
! within 1024 8192 "cat, with too little" bpfrelay cat --type types_words types
result $? "control, less than one sub-buffer is not enough"
! within 1048576 24576 "all of a CPU at once" python3 -c 'import sys; d = open(sys.argv[1], "rb").read(); d + d' \
	"$tmp/snapshot/cpu2"
result $? "control, what reads all of it into memory is found out"

bpfrelay unload types >/dev/null
finish
