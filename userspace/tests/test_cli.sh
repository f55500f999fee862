#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# test_cli.sh BPFRELAY OBJECT_WITH_LOG OBJECT_WITHOUT OBJECT_WITH_TARGETS: what the command says about wrong
# input: exit status, one line on stderr, nothing left behind. Needs no module.

bpfrelay=$1
log=$2
nolog=$3
targets=$4
suite=cli
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

"$bpfrelay" >/dev/null 2>&1
[ $? = 2 ]
result $? "no command is a usage error"
"$bpfrelay" --help >"$out/help" 2>"$out/err" && [ ! -s "$out/err" ] &&
	grep -q "^usage: bpfrelay " "$out/help" && "$bpfrelay" help | cmp -s "$out/help"
result $? "--help"
commands=$(sed -n 's/^  \([a-z]*\) .*/\1/p' "$out/help")
for c in $commands; do
	"$bpfrelay" "$c" --help >"$out/out" 2>"$out/err" && [ ! -s "$out/err" ] &&
		grep -q "^usage: bpfrelay $c " "$out/out" &&
		[ "$(grep -cE '^  -(j, --json|p, --pretty|v, --verbose|h, --help) ' "$out/out")" = 4 ] &&
		"$bpfrelay" help "$c" | cmp -s "$out/out"
	result $? "$c --help"
done
echo "$commands" | grep -qx load
result $? "help lists load"

check 2 "no command 'lod'" lod
check 2 "no command 'lod'" help lod
check 2 "which WHAT" load
check 2 "too many" load a b
check 2 "unknown option --sice" load --sice 3 "$log"
check 2 "--size needs a value" load "$log" --size
for size in 0 3x -1 4G 5000M; do
	check 2 "--size $size: must be" load "$log" "--size=$size"
done
check 2 "--mode drop: must be overwrite or keep" load "$log" --mode drop
check 2 "--pid 0: must be" load "$log" --pid 0
check 2 "--pid 3000000000: must be" load "$log" --pid 3000000000
check 2 "--freq 9x: must be" load "$log" --freq 9x
check 2 "--dev a_name_that_is_too_long: must be" load "$log" --dev a_name_that_is_too_long
check 2 "--set" load "$log" --set port
check 2 "which NAME" unload

check 1 "nosuch.o: No such file" load nosuch.o
check 1 "not a BPF object" load "$0"
check 1 "no RELAY_MAP" load "$nolog"
check 1 "no such variable; the object has .*port" load "$log" --set prot=1
check 1 "unsigned 16 bits" load "$log" --set port=65536
check 1 "unsigned 16 bits" load "$log" --set port=-1
check 1 "not a number" load "$log" --set port=1a
check 1 "8 bits" load "$log" --set small=128
check 1 "8 bits" load "$log" --set small=-129
check 1 "true or false" load "$log" --set on=2
check 1 "has no BLUE" load "$log" --set colour=BLUE
check 1 "longer than 3" load "$log" --set word=four
check 1 "only integers" load "$log" --set composed=1
check 1 "no such variable" load "$log" --set log_of_test_setup=1
check 1 "not a name" load "$log" --name a/b
check 1 "not on a BPF file system" load "$log" --name x --pin "$out/x/y" \
	--set small=-128 --set port=0xffff --set colour=GREEN --set word=abc

check 1 "program on_xdp (xdp) needs --dev IF, program on_connect (cgroup/connect4) needs --cgroup PATH, program on_sample (perf_event) needs --freq HZ$" \
	load "$targets"
check 1 ": program on_connect (cgroup/connect4) needs --cgroup PATH$" load "$targets" --dev lo --freq 9
check 1 "no such interface" load "$targets" --dev nosuch0 --freq 9 --cgroup /
check 1 "not a directory of a cgroup2" load "$targets" --dev lo --freq 9 --cgroup "$out"
check 1 "no such process" load "$targets" --dev lo --freq 9 --cgroup "$out" --pid 2147483647
check 1 "--dev lo: no program of the object uses it" load "$log" --dev lo
check 1 "--pid 1: no program of the object uses it" load "$log" --pid 1

# By name: beside the command, or in ../lib/bpfrelay from there.
check 1 "no nosuch.bpf.o in " load nosuch
check 1 "no such variable; the object has .*port" load log --set prot=1
mkdir -p "$out/bin" "$out/lib/bpfrelay"
cp "$bpfrelay" "$out/bin"
cp "$log" "$out/lib/bpfrelay/elsewhere.bpf.o"
beside=$bpfrelay
bpfrelay=$out/bin/bpfrelay
check 1 "no such variable; the object has .*port" load elsewhere --set prot=1
bpfrelay=$beside

check 1 "not loaded" unload nosuch
check 1 "not loaded" stop nosuch

[ ! -e /run/bpfrelay/x ] && [ ! -e "$out/x" ]
result $? "a failed load leaves nothing behind"

# The check itself is able to fail.
! says 1 "no such variable" load "$log" --set port=65536
result $? "control, another error is not taken for the right one"
! says 2 "unsigned 16 bits" load "$log" --set port=65536
result $? "control, nor is another status"

ktap_end
