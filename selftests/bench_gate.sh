#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The regression gate: what a record costs in instructions, against bench/recorded. And
# the gate itself: it must see recorded counts that are a little less than these.
set -u

tmp=$(mktemp -d)
trap 'rmmod bench_peers 2>/dev/null; rm -rf "$tmp"' EXIT

insmod "$BUILD/$(uname -r)/bench_peers.ko" || exit 1
"$BUILD/bench/bench" gate > "$tmp/lines" || exit 1

gate()
{
	../bench/gate --module "$MODULE" "$@" "$tmp/lines"
}

gate
status=$?
[ $status -ne 4 ] || exit 4

# Ours as it was recorded, so much lower, by this kernel or one of another name.
planted()
{
	gate --record | awk -F '\t' -v OFS='\t' -v percent="$1" -v kernel="$2" '
		$4 == "output" || $4 == "reserve" { $6 *= 1 - percent / 100 }
		kernel { $1 = kernel }
		{ print }' > "$tmp/recorded"
	gate --recorded "$tmp/recorded" > "$tmp/planted"
}

n=0
expect()
{
	local wanted=$1 what=$2; shift 2

	n=$((n + 1))
	planted "$@"
	if [ $? -eq "$wanted" ]; then
		echo "ok $n planted: $what"
	else
		echo "not ok $n planted: $what"
		sed 's/^/# /' "$tmp/planted"
		status=1
	fi
}

echo "# the gate itself"
expect 0 "the same counts" 0 ""
expect 0 "2 % more than recorded is let pass" 2 ""
expect 1 "5 % more than recorded is seen" 5 ""
expect 0 "the same ratios on another kernel" 0 other
expect 1 "ratios 8 % higher on another kernel are seen" 8 other
exit $status
