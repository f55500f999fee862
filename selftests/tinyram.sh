#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ten times the memory of the machine, asked for at once: only a small machine lets
# a legal size be that much. What the test `sizes` does about it, on such a one.
set -u

if [ "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)" -gt $((400 * 1024)) ]; then
	echo "ok 1 tinyram # SKIP has more than 400 MiB"
	exit 4
fi
exec "$BUILD/selftests/sizes" -t more_than_the_memory
