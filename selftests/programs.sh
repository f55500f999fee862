# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests that load programs by bpfrelay: to be sourced, with $test set to the test's
# name, $BUILD to where everything is built, bpfrelay in PATH, the module loaded.

# shellcheck disable=SC2034
pins=/sys/fs/bpf/bpfrelay
logs=/sys/kernel/debug/bpf_relay
export PATH=$BUILD/selftests:$PATH
# For records.py.
PYTHONPATH=$(dirname "$(readlink -f "$0")")
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
tmp=$(mktemp -d)
n=0
failed=0

# To be called by the test's own trap. Unloads what is left of it.
programs_cleanup()
{
	local name

	for name in /run/bpfrelay/*; do
		[ ! -e "$name" ] || bpfrelay unload "${name##*/}" >/dev/null
	done
	rm -rf "$tmp"
}
trap programs_cleanup EXIT

# STATUS WHAT: a line of the result; if it failed, with what was said last.
result()
{
	n=$((n + 1))
	[ "$1" = 0 ] || { failed=$((failed + 1)); printf 'not '; }
	echo "ok $n $test: $2"
	[ "$1" = 0 ] || sed 's/^/# /' "$tmp/out" "$tmp/err" 2>/dev/null
}

# The test's last line.
finish()
{
	echo "1..$n"
	echo "# $((n - failed)) passed, $failed failed"
	[ $failed = 0 ]
}

# STATUS PATTERN ARGS...: bpfrelay exits with STATUS and says PATTERN; errors are one line.
says()
{
	local want=$1 pattern=$2 got
	shift 2
	bpfrelay "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got = "$want" ] && grep -q -- "$pattern" "$tmp/out" "$tmp/err" &&
		{ [ "$want" = 0 ] || [ "$(wc -l <"$tmp/err")" = 1 ]; }
}

# The last references go behind grace periods.
nothing_left()
{
	local i

	for i in $(seq 50); do
		if [ ! -e $pins ] && [ ! -e /run/bpfrelay ] &&
		   [ -z "$(ls -A $logs 2>/dev/null)" ] && ! bpftool link show | grep -q .; then
			return 0
		fi
		sleep 0.1
	done
	find $pins /run/bpfrelay $logs >"$tmp/out" 2>/dev/null
	return 1
}

# LOG KEY: the sum of a key of the log's stats.
stats_of()
{
	cat $logs/"$1".*/stats |
		awk -F ': ' -v key="$2" '$1 == key { n += $2 } END { print n + 0 }'
}

# LOG: records that its program offered, by its own count.
offered()
{
	bpftool -j map dump pinned "$pins/$1/$1_events" |
		python3 -c 'import json, sys; print(sum(v["value"] for v in json.load(sys.stdin)[0]["formatted"]["values"]))'
}

# LOG: own count == stored + dropped; says the numbers in $sum.
adds_up()
{
	local stored dropped own

	stored=$(stats_of "$1" "stored events")
	dropped=$(stats_of "$1" "dropped events")
	own=$(offered "$1")
	sum="$own offered, $stored stored, $dropped dropped"
	[ "$own" -gt 0 ] && [ "$own" = $((stored + dropped)) ]
}

# LOG: a copy of its trace in $tmp/ctf, its records as lines in $tmp/text. Fails if
# babeltrace2 has anything to say about it.
text()
{
	rm -rf "$tmp/ctf"
	cp -r $logs/"$1".*/ctf "$tmp/ctf"
	babeltrace2 "$tmp/ctf" >"$tmp/text" 2>"$tmp/err" && [ ! -s "$tmp/err" ]
}

# ---- busy: processes that do what they are told ------------------------------

declare -A busy_pid busy_in busy_out

# NAME: starts one; its pid is ${busy_pid[NAME]}.
start_busy()
{
	local in out

	mkfifo "$tmp/$1.in" "$tmp/$1.out"
	busy <"$tmp/$1.in" >"$tmp/$1.out" &
	busy_pid[$1]=$!
	exec {in}>"$tmp/$1.in" {out}<"$tmp/$1.out"
	busy_in[$1]=$in
	busy_out[$1]=$out
}

# NAME COMMAND...: tells one.
tell_only()
{
	echo "${@:2}" >&"${busy_in[$1]}"
}

# NAME: waits until it is done; $told is how many frames it sent.
wait_busy()
{
	read -r _ told <&"${busy_out[$1]}"
}

tell()
{
	tell_only "$@"
	wait_busy "$1"
}

stop_busy()
{
	local name in out

	[ ${#busy_pid[@]} -gt 0 ] || return 0
	for name in "${!busy_pid[@]}"; do
		in=${busy_in[$name]} out=${busy_out[$name]}
		exec {in}>&- {out}<&-
	done
	wait "${busy_pid[@]}"
}
