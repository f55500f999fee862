#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# stacklog: a process that is known to be busy in known functions, and kernel stacks
# against the kernel's own symbols. As root, with BUILD set, bpfrelay in PATH and the
# module loaded.
set -u

test=stacklog
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
trap 'stop_busy; programs_cleanup' EXIT

cat >"$tmp/stacks.py" <<'PY'
# stacks.py TEXT BINARY PID LOADED_AT: prints "KEY NUMBER" lines about the samples.
import bisect, collections, subprocess, sys
from records import records

DEPTH_MAX = 64

class Symbols:
    def __init__(self, lines):
        table = sorted((int(l[0], 16), l[2]) for l in lines
                       if len(l) > 2 and l[1] in "tTwW")
        self.addresses = [a for a, _ in table]
        self.names = [name for _, name in table]

    # None: before the first or behind the last.
    def find(self, address):
        i = bisect.bisect_right(self.addresses, address)
        return self.names[i - 1] if 0 < i < len(self.names) else None

text, binary, pid, base = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4], 16)
kernel = Symbols(line.split() for line in open("/proc/kallsyms"))
user = Symbols(line.split() for line in
               subprocess.run(["nm", binary], capture_output=True, text=True).stdout.splitlines())
n = collections.Counter()
for cpu, f in records(text):
    n["samples"] += 1
    n["wrong_cpu"] += f["cpu"] != cpu
    n["too_deep"] += max(f["n_kernel"], f["n_user"]) > DEPTH_MAX
    # No old data behind the stack.
    n["not_zero"] += any(f["kernel"][f["n_kernel"]:] + f["user"][f["n_user"]:])
    n["other"] += f["tgid"] != pid
    stack = [kernel.find(a) for a in f["kernel"][:f["n_kernel"]]]
    n["kernel_frames"] += len(stack)
    n["kernel_unknown"] += stack.count(None)
    n["empty"] += not f["n_kernel"] and not f["n_user"]
    # The outermost of one that came by a system call is its entry.
    n["syscalls"] += "do_syscall_64" in stack and stack[-1].startswith("entry_SYSCALL")
    if f["tgid"] == pid:
        stack = [user.find(a - base) for a in f["user"][:f["n_user"]]]
        n["comm"] += f["comm"] == "busy"
        n["spin"] += "busy_spin" in stack[:1]
        n["chain"] += stack[:3] == ["busy_spin", "busy_outer", "obey"]
        n["threads"] += f["pid"] != pid
for key, value in n.items():
    print(key, value)
PY

# PID: where the busy program is in its memory.
loaded_at()
{
	awk '$NF ~ /\/busy$/ { sub("-.*", "", $1); print $1; exit }' "/proc/$1/maps"
}

# Fills in ${seen[KEY]} from the records.
declare -A seen
look()
{
	local key value

	seen=()
	text stacklog || return
	while read -r key value; do
		seen[$key]=$value
	done < <(python3 "$tmp/stacks.py" "$tmp/text" "$(command -v busy)" \
			 "${busy_pid[a]}" "$(loaded_at "${busy_pid[a]}")" 2>"$tmp/err")
}

echo "KTAP version 1"
start_busy a
start_busy b

says 1 "stacklog_sample (perf_event) needs --freq HZ" load stacklog
result $? "without --freq it is refused"

# ---- All CPUs ------------------------------------------------------------------

says 0 "^stacklog: " load stacklog --freq 199
result $? "load, by its name"
[ "$(bpftool link show | grep -c ': perf_event ')" = "$(nproc)" ]
result $? "one event on each of the $(nproc) CPUs"
tell_only b spin 300
tell a spin 300
wait_busy b
# System calls that stay in the kernel for a while.
dd if=/dev/zero of=/dev/null bs=4M count=50 2>/dev/null
says 0 "1 program detached" stop stacklog
adds_up stacklog
result $? "own count == stored + dropped: $sum"
look
[ "${seen[samples]:-0}" = "$(stats_of stacklog entries)" ] && [ "${seen[samples]}" -gt 0 ] &&
	[ "${seen[wrong_cpu]}" = 0 ] && [ "${seen[too_deep]}" = 0 ] && [ "${seen[not_zero]}" = 0 ]
result $? "${seen[samples]} samples, on the CPU that they say, zero behind their frames"
[ "${seen[empty]}" = 0 ]
result $? "each has a stack: ${seen[empty]} have none"
[ "${seen[spin]}" -gt 0 ] && [ "${seen[comm]}" -gt 0 ]
result $? "the busy process: ${seen[spin]} samples are in busy_spin()"
[ "${seen[chain]}" -gt 0 ]
result $? "called by busy_outer(), called by obey(): ${seen[chain]}"
[ "${seen[other]}" -gt 0 ]
result $? "control, other processes are there, too: ${seen[other]}"
[ "${seen[kernel_frames]}" -gt 0 ] && [ "${seen[kernel_unknown]}" = 0 ]
result $? "all ${seen[kernel_frames]} kernel frames are in functions of /proc/kallsyms"
[ "${seen[syscalls]}" -gt 0 ]
result $? "system calls are there with their entry: ${seen[syscalls]}"
bpfrelay unload stacklog >/dev/null

# ---- One process ----------------------------------------------------------------

says 0 "^stacklog: " load stacklog --freq 199 --pid "${busy_pid[a]}"
tell_only b spin 200
tell a spin 200
wait_busy b
tell a thread
tell a spin 200
says 0 "1 program detached" stop stacklog
adds_up stacklog
result $? "--pid: own count == stored + dropped: $sum"
look
[ "${seen[samples]:-0}" -gt 0 ] && [ "${seen[other]}" = 0 ] && [ "${seen[spin]}" -gt 0 ]
result $? "only of that process: ${seen[samples]}"
[ "${seen[threads]}" -gt 0 ]
result $? "${seen[threads]} of a thread that it started meanwhile"
bpfrelay unload stacklog >/dev/null

says 0 "^stacklog: " load stacklog --freq 199 --pid "${busy_pid[a]}" --set no_kernel=true
tell a spin 100
bpfrelay stop stacklog >/dev/null
look
[ "${seen[spin]:-0}" -gt 0 ] && [ "${seen[kernel_frames]}" = 0 ]
result $? "--set no_kernel=true: user stacks only"
bpfrelay unload stacklog >/dev/null

says 0 "^stacklog: " load stacklog --freq 199 --size 4K --count 2 --mode keep
tell a spin 300
bpfrelay stop stacklog >/dev/null
adds_up stacklog && [ "$(stats_of stacklog "dropped full")" -gt 0 ]
result $? "a full log that keeps the first: $sum"
bpfrelay unload stacklog >/dev/null

finish
