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

# From ctf/ the follower may not know how many: then it must say so.
uncounted()
{
	[ "$how" = --ctf ] && grep -q '^# cpu .*: records overwritten, how many is not known$' "$tmp/follow"
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
	sleep 1
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
		[ $((followed + lost)) -lt "$stored" ] && ! uncounted || break
	done
	kill $follower
	wait $follower 2>/dev/null
	echo "# $followed followed, $lost lost, $stored stored, $(stats_of types wakeups) wakeups"
	[ "$followed" -gt 0 ] && { [ $((followed + lost)) = "$stored" ] || uncounted; }
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

# KIB COMMAND...: has no more memory of its own than that.
within()
{
	(ulimit -d "$1" && shift && exec "$@" >/dev/null 2>"$tmp/err")
}
rm -rf "$tmp/snapshot"
for command in "stats types" "cat --ctf types" "cat types" "snapshot types $tmp/snapshot"; do
	# shellcheck disable=SC2086 # words
	within 8192 bpfrelay $command
	result $? "${command%% "$tmp"*} of 64 MiB takes less than 8 MiB"
done
! within 1024 bpfrelay cat types
result $? "control, less than one sub-buffer is not enough"

bpfrelay unload types >/dev/null
finish
