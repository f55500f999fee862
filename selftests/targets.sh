#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bpfrelay load's targets: interface, control group, process, frequency; that they
# outlive stop and start; --replace. As root, with BUILD set, bpfrelay in PATH and the
# module loaded.
set -u

test=targets
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
obj=$BUILD/selftests/targets.bpf.o
cg=/sys/fs/cgroup/targets-$$
dev=targets0	# what is sent on peer arrives here
peer=targets1

cleanup()
{
	stop_busy
	programs_cleanup
	ip link del $dev 2>/dev/null
	rmdir $cg
}
trap cleanup EXIT

# N: datagrams, each from a socket of its own.
datagrams()
{
	local _

	for _ in $(seq "$1"); do
		echo x >/dev/udp/127.0.0.1/7531
	done
}

# What each program is to record, among what it is not: frames, datagrams, calls, CPU time.
# Behind it the records are in $tmp/text.
act()
{
	tell b frames 5 $peer
	tell b frames 7 $dev
	(echo $BASHPID >$cg/cgroup.procs; datagrams 3)
	datagrams 2
	tell a tick 11
	tell b tick 13
	tell a spin 300
	tell b spin 100
	text targets
}

# ROUND...: "PROGRAM COUNT ..." of the records of these rounds, without perf_event, whose
# count is time. Of what only process a may do, other processes' are marked.
counts()
{
	sed -n "s/.*{ prog = \"\([a-z0-9_]*\)\", round = \([$1]\), tgid = \([0-9]*\) }.*/\1 \3/p" \
		"$tmp/text" | awk -v a="${busy_pid[a]}" '
			/^(uprobe|uretprobe|perf_event)/ && $2 != a { $1 = $1 "!" }
			$1 != "perf_event" { n[$1]++ }
			END { for (p in n) print p, n[p] }' | sort | xargs
}

# PROGRAM ROUNDS
count_of()
{
	grep -c "prog = \"$1\", round = [$2]," "$tmp/text"
}

# TIMES: what counts() shall say behind as many act()s.
expected()
{
	echo "cgroup_skb $((3 * $1)) connect4 $((3 * $1)) tc $((5 * $1)) tcx_egress $((7 * $1))" \
	     "uprobe $((11 * $1)) uprobe_multi $((11 * $1)) uretprobe $((11 * $1)) xdp $((5 * $1))"
}

samples()
{
	grep -c 'prog = "perf_event"' "$tmp/text"
}

# All that a failed --replace must leave alone.
state()
{
	bpftool link show
	find $pins /run/bpfrelay | sort
	cat /run/bpfrelay/*/options
}

# PATTERN ARGS...: a --replace that is refused and changes nothing.
is_refused()
{
	local before

	before=$(state)
	says 1 "$1" load --replace "${@:2}" && [ "$(state)" = "$before" ]
}

xdp_link()
{
	bpftool link show | awk '/: xdp / { print $1 }'
}

# As a --replace that was killed: a program is attached there.
leave_behind()
{
	mkdir "$pins/targets~" "$pins/targets~/links" "/run/bpfrelay/targets~"
	bpftool link pin id "$(bpftool link show | awk -F : '/: tracing |: perf_event / { print $1; exit }')" \
		"$pins/targets~/links/on_perf_event"
}

echo "KTAP version 1"
mkdir $cg
ip link add $dev type veth peer name $peer
ip link set $dev up
ip link set $peer up
start_busy a
start_busy b
everything=(--dev "$dev" --cgroup "$cg" --freq 199 --pid "${busy_pid[a]}")

# ---- What is missing or wrong is named, and nothing is loaded ------------------

says 1 'on_xdp (xdp) needs --dev IF, .*on_tc (tc) needs --dev IF, .*on_tcx_egress .* needs --dev IF, .*on_cgroup_skb .* needs --cgroup PATH, .*on_connect4 .* needs --cgroup PATH, .*on_perf_event (perf_event) needs --freq HZ$' load "$obj" && nothing_left
result $? "every program without a target is named with its option, nothing is loaded"
says 1 ': program on_perf_event (perf_event) needs --freq HZ$' load "$obj" --dev $dev --cgroup $cg && nothing_left
result $? "only those without one"

# PATTERN ARGS...
is_wrong()
{
	says 1 "$1" load "$obj" "${everything[@]}" "${@:2}" && nothing_left
	result $? "wrong target ${*:2}: named, nothing is loaded"
}

is_wrong "no such interface" --dev nosuch0
is_wrong "not a directory of a cgroup2" --cgroup /tmp
is_wrong "No such file" --cgroup $cg/nosuch
is_wrong "no such process" --pid 4194999
is_wrong "perf_event_max_sample_rate" --freq 100000000
says 1 "no program of the object uses it" load "$BUILD/tcplog.bpf.o" --dev $dev && nothing_left
result $? "an option that no program needs is refused"

# ---- Every kind, and stop and start ---------------------------------------------

says 0 "^targets: " load "$obj" "${everything[@]}" --size 64K
result $? "load with all targets"
act
got=$(counts 1)
[ "$got" = "$(expected 1)" ]
result $? "each recorded what it is attached to and nothing else: $got"
before=$(samples)
[ "$before" -gt 0 ]
result $? "perf_event with --pid: $before samples of the process"
tell a thread
tell a spin 300
text targets
[ "$(samples)" -gt "$before" ] && ! counts 1 | grep -q 'perf_event!'
result $? "a thread that it starts later is sampled, too"

says 0 "9 programs detached" stop targets
before=$(stats_of targets "stored events")
act
[ "$(stats_of targets "stored events")" = "$before" ]
result $? "stopped, nothing is recorded"
(cd / && says 0 "9 programs attached" start targets)
result $? "start, from another directory"
before=$(samples)
act
got=$(counts 1)
[ "$got" = "$(expected 2)" ]
result $? "started again, each has its target still: $got"
[ "$(samples)" -gt "$before" ]
result $? "and perf_event its process and frequency"

# ---- --replace --------------------------------------------------------------------

says 1 "loaded already" load "$obj" "${everything[@]}"
result $? "without --replace, a second load of the name is refused"

link=$(xdp_link)
tell_only b frames 0 $peer
says 0 "replaced, the records stay" load "$obj" --replace --set round=2
result $? "--replace"
# What comes next ends it.
tell_only b tick 0
wait_busy b
sent=$told
wait_busy b
text targets
got=$(count_of xdp 1)
more=$(count_of xdp 2)
[ $((got + more)) = $((10 + sent)) ] && [ "$got" -ge 10 ] && [ "$link" ] && [ "$(xdp_link)" = "$link" ]
result $? "the interface was never without its XDP program: old $got + new $more = 10 + $sent frames"
got=$(count_of tc 12)
[ "$got" -ge $((10 + sent)) ]
result $? "nor without its tc program, though a frame may have met both: $got"
first=$(counts 1)
act
[ "$(counts 1)" = "$first" ] && [ "$(count_of uprobe 1)" = 22 ]
result $? "the records of the old programs are there, and they add none: $first"
got=$(counts 2 | sed 's/ tc [0-9]*//; s/ xdp .*//')
[ "$got" = "$(expected 1 | sed 's/ tc [0-9]*//; s/ xdp .*//')" ]
result $? "the new ones have the targets of the old ones: $got"
[ ! -e "$pins/targets~" ] && [ ! -e "/run/bpfrelay/targets~" ]
result $? "nothing is left of the old ones"

is_refused "open with other types or options" "$BUILD/selftests/targets_other.bpf.o" --name targets
result $? "--replace by another type is refused and changes nothing"
is_refused "open with other types or options" "$obj" --size 128K
result $? "nor by another size"
is_refused "open with other types or options" "$obj" --mode keep
result $? "nor by another mode"
is_refused "has a log targets, which" "$BUILD/tcplog.bpf.o" --name targets
result $? "nor by an object without that log"
is_refused "leaves it: without --pin" "$obj" --pin /sys/fs/bpf/elsewhere
result $? "nor in another place"
says 0 "^targets: " load "$obj" "${everything[@]}" --dev $peer --name second &&
	is_refused "on_xdp: the interface has an XDP program already" "$obj" --dev $peer &&
	says 0 removed unload second
result $? "nor if a program of it cannot be attached"
exec 8<$pins/targets
flock 8
is_refused "another bpfrelay is at work" "$obj"
result $? "nor while another one is at work on the name"
exec 8<&-
leave_behind
says 0 "replaced, the records stay" load "$obj" --replace --set round=3 &&
	[ ! -e "$pins/targets~" ] && [ ! -e "/run/bpfrelay/targets~" ]
result $? "what a killed --replace left behind does not hinder the next"
says 0 "9 programs detached" stop targets &&
	says 0 "replaced" load "$obj" --replace --set round=4 && tell b frames 1 $dev && text targets &&
	[ "$(count_of tcx_egress 4)" = 1 ]
result $? "--replace of a stopped one: the new programs run"
leave_behind
says 0 removed unload targets && nothing_left
result $? "unload; nothing is left, nor of a killed --replace"
says 0 "^targets: " load "$obj" --replace "${everything[@]}" && says 0 removed unload targets
result $? "--replace of what is not loaded just loads it"

# The last step that can fail: only a program for frames in several buffers may be there.
ip link set $dev mtu 9000
ip link set $peer mtu 9000
says 0 "^targets: " load "$BUILD/selftests/targets_frags.bpf.o" --name targets --dev $dev &&
	tell b frames 5 $peer &&
	is_refused "XDP program cannot be replaced" "$obj" "${everything[@]}" &&
	tell b frames 5 $peer && text targets && [ "$(counts 1)" = "xdp 10" ]
result $? "an XDP program that the interface refuses: --replace changes nothing"
says 0 removed unload targets && nothing_left
result $? "and leaves nothing"

# ---- USDT, and records of variable length -------------------------------------------

says 0 "^targets: " load "$BUILD/selftests/targets_usdt.bpf.o" --name usdt --pid "${busy_pid[a]}"
tell a tick 5
tell b tick 7
[ "$(stats_of targets "stored events")" = 5 ]
result $? "USDT with --pid: only of that process"
says 0 "1 program detached" stop usdt && tell a tick 1 && says 0 "1 program attached" start usdt &&
	tell a tick 5 && tell b tick 7 && [ "$(stats_of targets "stored events")" = 10 ]
result $? "and so it is after stop and start"
says 0 removed unload usdt && nothing_left &&
	says 0 "^targets: " load "$BUILD/selftests/targets_usdt.bpf.o" --name usdt &&
	tell a tick 5 && tell b tick 7 && [ "$(stats_of targets "stored events")" = 12 ]
result $? "USDT without: of each process"
bpfrelay unload usdt >/dev/null

says 0 "^var: " load "$BUILD/selftests/targets_var.bpf.o" --name var
tell a tick 3
text var &&
	grep -q 'var_event: .* size = 8, number = 0, data = \[ \] }' "$tmp/text" &&
	grep -q 'var_event: .* size = 10, number = 2, data = \[ \[0\] = 0xAB, \[1\] = 0xAB \] }' "$tmp/text" &&
	[ "$(wc -l <"$tmp/text")" = 3 ]
result $? "RELAY_VAR: each record has its fields, and its bytes behind them"
is_refused "open with other types" "$BUILD/selftests/targets_var_other.bpf.o" --name var
result $? "its fixed part is described: with another name in it the type is another"
says 0 "replaced" load "$BUILD/selftests/targets_var.bpf.o" --name var --replace
result $? "control, with the same names it is not"
bpfrelay unload var >/dev/null

finish
