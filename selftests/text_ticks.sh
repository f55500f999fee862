#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The order of equal times, on a machine whose clock goes in ticks: booted with
# clocksource=jiffies.
set -u

if [ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" != jiffies ]; then
	echo "ok 1 text_ticks # SKIP the clock does not go in ticks"
	exit 4
fi
out=$("$BUILD/selftests/text" -t equal_times)
status=$?
echo "$out"
# It passed, and not because there was nothing to see.
[ $status = 0 ] && ! grep -q SKIP <<<"$out"
