#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Behind a suspend the newest records of text carry the time of the wall clock, whichever
# clock their log has. Suspends the machine for some seconds, once: QEMU's clock does not
# wake it a second time. As root, with BUILD set, bpfrelay in PATH and the module loaded.
set -u

test=text_suspend
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"

# How long the machine slept so far, in whole seconds.
slept()
{
	python3 -c 'import time
print(round(time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)))'
}

# LOG: seconds from its newest record until now.
age()
{
	local line now

	line=$(tail -n 1 $logs/"$1".*/text)
	now=$(date +%s)
	echo $((now - $(date -d "${line%% *}" +%s)))
}

# Time is taken in whole seconds, and passes between a record and the question: less than
# the machine sleeps.
near()
{
	[ "$1" -ge -1 ] && [ "$1" -le 10 ]
}

if [ ! -e /dev/rtc0 ] || ! grep -qw mem /sys/power/state; then
	echo "ok 1 $test # SKIP cannot suspend and wake up"
	exit 4
fi

# WHEN: both logs say the right time.
both()
{
	local age log

	for log in schedlog stacklog; do
		tell a spin 200
		age=$(age $log)
		near "$age"
		result $? "$1, the newest record of $log is $age s old"
	done
}

# 7.3 in QEMU without KVM resumes, and then runs nothing any more; without the module, too.
if [ "$(uname -r | cut -d. -f1)" -ge 7 ] && grep -qw hypervisor /proc/cpuinfo &&
   [ "${SUSPEND:-}" != 1 ]; then
	echo "ok 1 $test # SKIP this kernel does not come back from an emulated suspend (SUSPEND=1 tries)"
	exit 4
fi
echo "KTAP version 1"
start_busy a
trap 'stop_busy; programs_cleanup' EXIT
says 0 "^schedlog: " load schedlog --clock boot
result $? "a log with the clock that counts through suspend"
says 0 "^stacklog: " load stacklog --clock mono --freq 99
result $? "a log with the clock that does not"
both before
before=$(slept)
rtcwake -m mem -s 20 >"$tmp/out" 2>"$tmp/err"
slept=$(($(slept) - before))
[ "$slept" -gt 15 ]
result $? "the machine slept, $slept s"
both behind
! near 20 && ! near -20
result $? "control, a sleep that is left out is seen"
finish
