#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# schedlog against what the scheduler must have done: a record's prev is the next of
# the record before on its CPU, and the switches of a process are those that it counts
# itself. As root, with BUILD set, bpfrelay in PATH and the module loaded.
set -u

test=schedlog
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
trap 'stop_busy; programs_cleanup' EXIT

cat >"$tmp/chain.py" <<'PY'
# chain.py TEXT [SKIP]: checks the chain on each CPU; the SKIP-th record is left out.
# Prints "RECORDS CPUS BROKEN BAD": BAD are records that make no sense.
import sys
from records import records

skip = int(sys.argv[2]) if len(sys.argv) > 2 else 0
last, n, broken, bad = {}, 0, 0, 0
for cpu, f in records(sys.argv[1]):
    n += 1
    if n == skip:
        continue
    broken += last.get(cpu, f["prev_pid"]) != f["prev_pid"]
    last[cpu] = f["next_pid"]
    for who in "prev", "next":
        bad += (f[who + "_pid"] == 0) != (f[who + "_comm"] == f"swapper/{cpu}")
        bad += not -1 <= f[who + "_prio"] <= 139
    # Idle always can go on.
    bad += f["prev_pid"] == f["next_pid"] or (not f["prev_pid"] and f["prev_state"] != 0)
print(n, len(last), broken, bad)
PY

cat >"$tmp/thread.py" <<'PY'
# thread.py TEXT PID: "SLEPT GAVE_WAY GOT": how often a thread left a CPU to sleep or
# could have gone on, and how often it got one.
import sys
from records import records

pid, slept, gave_way, got = int(sys.argv[2]), 0, 0, 0
for _, f in records(sys.argv[1]):
    got += f["next_pid"] == pid
    if f["prev_pid"] == pid:
        sleeps = f["prev_state"] != 0 and not f["preempted"]
        slept += sleeps
        gave_way += not sleeps
print(slept, gave_way, got)
PY

# PID KEY: voluntary or nonvoluntary switches by the scheduler's own count.
switches()
{
	awk -v key="$2_ctxt_switches:" '$1 == key { print $2 }' "/proc/$1/status"
}

# N: sleeps and wakes as often, at least.
nap()
{
	local _

	for _ in $(seq "$1"); do
		tell a tick 0
	done
}

echo "KTAP version 1"
start_busy a
start_busy b
a=${busy_pid[a]}
taskset -pc 1 "$a" >/dev/null
taskset -pc 1 "${busy_pid[b]}" >/dev/null

says 0 "^schedlog: " load schedlog
result $? "load, by its name"
nap 50
says 0 "1 program detached" stop schedlog
adds_up schedlog && [ "$(stats_of schedlog "dropped events")" = 0 ] &&
	[ "$(stats_of schedlog overrun)" = 0 ]
result $? "own count == stored + dropped: $sum"
text schedlog
read -r records on broken bad < <(python3 "$tmp/chain.py" "$tmp/text")
[ "$records" = "$(offered schedlog)" ] && [ "$on" = "$(nproc)" ] && [ "$broken" = 0 ]
result $? "each record's prev is the next of the one before: $records records on $on CPUs, $broken broken"
[ "$bad" = 0 ]
result $? "idle is pid 0, priorities and states are possible: $bad are not"
read -r _ _ broken _ < <(python3 "$tmp/chain.py" "$tmp/text" $((records / 2)))
[ "$broken" = 1 ]
result $? "control, one missing record breaks the chain"
bpfrelay unload schedlog >/dev/null

# One thread, beside another one on its CPU.
says 0 "^schedlog: " load schedlog --set pid="$a"
voluntary=$(switches "$a" voluntary)
nonvoluntary=$(switches "$a" nonvoluntary)
nap 10
tell_only b spin 200
tell a spin 200
wait_busy b
# It may not have gone to sleep yet.
until grep -q "^State:.S" "/proc/$a/status"; do
	sleep 0.01
done
voluntary=$(($(switches "$a" voluntary) - voluntary))
nonvoluntary=$(($(switches "$a" nonvoluntary) - nonvoluntary))
bpfrelay stop schedlog >/dev/null
adds_up schedlog
result $? "--set pid: own count == stored + dropped: $sum"
text schedlog
read -r slept gave_way got < <(python3 "$tmp/thread.py" "$tmp/text" "$a")
[ "$slept" = "$voluntary" ] && [ "$slept" -ge 10 ]
result $? "it went to sleep $slept times, the scheduler counted $voluntary"
[ "$gave_way" = "$nonvoluntary" ] && [ "$gave_way" -gt 0 ]
result $? "it gave way $gave_way times, the scheduler counted $nonvoluntary"
[ "$got" = $((slept + gave_way)) ] && [ "$(offered schedlog)" = $((2 * got)) ]
result $? "it got a CPU as often, $got, and there is no record without it"
bpfrelay unload schedlog >/dev/null

says 0 "^schedlog: " load schedlog --size 4K --count 2 --mode keep
nap 200
says 0 "1 program detached" stop schedlog
adds_up schedlog && [ "$(stats_of schedlog "dropped full")" -gt 0 ] &&
	[ "$(stats_of schedlog "dropped full")" = "$(stats_of schedlog "dropped events")" ]
result $? "a full log that keeps the first: $sum"
bpfrelay unload schedlog >/dev/null

finish
