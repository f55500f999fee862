#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
#	run.sh list		the targets, then the broken parsers
#	run.sh NAME		one of them: "ok - NAME", or why not
#	run.sh fuzz TARGET	for SECONDS_EACH; what is found stays in OUT/found
#
# Environment: MAKE, TARGETS, OUT, KERNEL, LIB, FLAGS and RUNS of libFuzzer, FLAGS_TARGET and
# RUNS_TARGET, SECONDS_EACH.

here=$(dirname "$0")
bad='property does not hold|ERROR: (AddressSanitizer|LeakSanitizer|libFuzzer)|runtime error:'

# Of libFuzzer's output: inputs and what they covered.
figures()
{
	sed -n 's/^#[0-9]*[[:space:]]*\(DONE\|INITED\) *\(cov: [0-9]*\) \(ft: [0-9]*\) corp: \([0-9]*\).*/\2, \3, corpus \4/p
		s/^stat::number_of_executed_units: \(.*\)/\1 runs/p' "$1" | tail -2 | paste -sd, |
		sed 's/,/, /g; s/  / /g'
}

runs()	# of a target
{
	eval "echo \${RUNS_$1:-$RUNS}"
}

# fuzz PROGRAM TARGET LOG FLAGS...: new inputs go into a directory beside LOG.
fuzz()
{
	program=$1 target=$2 log=$3
	shift 3
	mkdir -p "$log.corpus"
	set -- "$@" "$log.corpus" "$OUT/corpus/$target"
	[ -d "$here/crashes/$target" ] && set -- "$@" "$here/crashes/$target"
	[ -f "$here/$target.dict" ] && set -- -dict="$here/$target.dict" "$@"
	# shellcheck disable=SC2086 # the flags are words
	"$program" $FLAGS $(eval "echo \$FLAGS_$target") "$@" >"$log" 2>&1
}

# What it found: the property, where, and the input.
said()
{
	grep -E "($bad)|^ *#[0-9]+ 0x.* in .*\\.[ch]:|^Base64|Test unit written" "$1" | head -40 |
		sed 's/^/# /'
}

sound()
{
	target=$1 log=$OUT/check/$1
	rm -rf "$log" "$log.corpus"
	if fuzz "$OUT/$1" "$1" "$log" -runs="$(runs "$target")" -artifact_prefix="$log."; then
		echo "ok - fuzz.$1 # $(figures "$log")"
	else
		said "$log"
		echo "not ok - fuzz.$1"
	fi
}

# mutant NAME TARGET FILE SED...: every SED must change something by itself.
mutant()
{
	[ "$mode" = "$1" ] || [ "$mode" = list ] || return
	[ "$mode" = "$1" ] || { echo "$1"; return; }
	name=$1 target=$2 file=$3 dir=$OUT/mutants/$1
	shift 3
	rm -rf "$dir" && mkdir -p "$dir" && cp -r "$KERNEL" "$LIB" "$dir"
	for s in "$@"; do
		sed "$s" "$dir/$file" >"$dir/new"
		cmp -s "$dir/$file" "$dir/new" && echo "not ok - fuzz.$name # does not apply: $s"
		mv "$dir/new" "$dir/$file"
	done
	if ! $MAKE -s -C "$here" O="$dir" KERNEL="$dir/kernel" LIB="$dir/lib" MORE_CFLAGS=-Wno-error "$target" \
		>"$dir/log" 2>&1; then
		echo "not ok - fuzz.$name # does not build: $dir/log"
	elif fuzz "$dir/$target" "$target" "$dir/log" -runs="$(runs "$target")" -artifact_prefix="$dir/"; then
		echo "not ok - fuzz.$name # survives $(runs "$target") runs"
	elif ! grep -Eq "($bad)" "$dir/log"; then
		echo "not ok - fuzz.$name # $target ended without a word: $dir/log"
	else
		printf '%s\n' "ok - fuzz.$name # $(grep -Eo "($bad).*" "$dir/log" | head -1)"
	fi
}

mode=$1
case $mode in
fuzz)
	mkdir -p "$OUT/found" "$OUT/long"
	log=$OUT/long/$2
	if fuzz "$OUT/$2" "$2" "$log" -max_total_time="$SECONDS_EACH" \
	   -artifact_prefix="$OUT/found/$2-"; then
		echo "ok - fuzz.$2 # $SECONDS_EACH s, $(figures "$log")"
	else
		said "$log"
		echo "not ok - fuzz.$2 # the input is in $OUT/found: put it into crashes/$2"
	fi
	exit ;;
list)
	for t in $TARGETS; do
		echo "$t"
	done ;;
*)
	mkdir -p "$OUT/check"
	case " $TARGETS " in
	*" $mode "*) sound "$mode"; exit ;;
	esac ;;
esac
. "$here/mutants.list"
