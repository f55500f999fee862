#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# seeds.sh TRACE_MAKE DIR: what fuzz_trace begins with.

mkdir -p "$2"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for seed in 1 2 3; do
	"$1" "$tmp/trace" $seed $((seed * 40)) 0 >/dev/null
	{ printf '\0\0'; cat "$tmp/trace/cpu0"; } >"$2/packets$seed"
	len=$(stat -c %s "$tmp/trace/metadata")
	{
		# shellcheck disable=SC2059
		printf "\\x$(printf %02x $((len & 255)))\\x$(printf %02x $((len >> 8)))"
		cat "$tmp/trace/metadata" "$tmp/trace/cpu0"
	} >"$2/trace$seed"
done
