# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# For tests in shell: sourced, with the name of the test in $suite and, for says() and
# check(), the command in $bpfrelay. Begins KTAP; the script ends with ktap_end.

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
run=0
failed=0
echo "KTAP version 1"

result()	# STATUS WHAT
{
	run=$((run + 1))
	[ "$1" = 0 ] || { failed=$((failed + 1)); printf 'not '; }
	echo "ok $run $suite: $2"
}

# STATUS PATTERN ARGS...: exits with STATUS and says one line that PATTERN matches.
says()
{
	status=$1
	pattern=$2
	shift 2
	"$bpfrelay" "$@" >"$out/out" 2>"$out/err"
	got=$?
	[ $got = "$status" ] && [ "$(wc -l <"$out/err")" = 1 ] && grep -q -- "$pattern" "$out/err"
}

check()
{
	says "$@"
	result $? "$(shift 2; echo "$*" | sed "s|[^ ]*/||g") is refused with $1 and one line"
	[ "$(tail -1 "$out/err")" ] || echo "# nothing on stderr"
}

ktap_end()
{
	echo "1..$run"
	echo "# $((run - failed)) passed, $failed failed"
	[ $failed = 0 ]
}
