#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the command says of the machine and of logs: doctor, version, who holds a log, which
# of several is meant, which capability is missing. As root, with BUILD set, bpfrelay in
# PATH and the module loaded.
set -u

test='cli'
# shellcheck source=selftests/programs.sh disable=SC2154
. "$(dirname "$0")/programs.sh"

bpfrelay doctor -j >"$tmp/out" 2>"$tmp/err" &&
	jq -e 'all(.verdict != "problem")' "$tmp/out" >/dev/null
result $? "doctor: here is all that is essential"
unshare -m sh -c 'umount /sys/kernel/debug && ! bpfrelay doctor' >"$tmp/out" 2>"$tmp/err" &&
	grep -q "^problem *debugfs " "$tmp/out" && grep -q -- "-> mount -t debugfs" "$tmp/out"
result $? "doctor: debugfs is not mounted"

before=$(date +%s)
bpfrelay load -j schedlog --size 4K --count 2 >"$tmp/out" 2>"$tmp/err" &&
	jq -e '.name == "schedlog" and .attached == 1 and (.replaced | not) and
		.logs[0].subbuf_size == 4096 and .logs[0].n_subbufs == 2' "$tmp/out" >"$tmp/load"
result $? "load -j"
id=$(jq '.logs[0].map_id' "$tmp/out")
opened=$(date -d "$(bpfrelay show -j schedlog | jq -r .opened)" +%s)
[ "$opened" -ge "$before" ] && [ "$opened" -le "$(date +%s)" ]
result $? "show: when it was opened"
bpfrelay version -j | jq -e --arg srcversion "$(cat /sys/module/bpf_relay/srcversion 2>/dev/null)" \
	'.module.abi == .abi and (.module.srcversion // "") == $srcversion' >"$tmp/out"
result $? "version: the module's"

# FILTER: what show says of the holders.
holders()
{
	bpfrelay show -j schedlog 2>"$tmp/err" | jq -c ".holders | $1" | tee "$tmp/out"
}
programs=$(bpftool -j prog list | jq -c --argjson id "$id" '[.[] | select((.map_ids // []) | index($id)).id]')
[ "$programs" != "[]" ] && [ "$(holders 'select(.all) | .programs | map(.id)')" = "$programs" ]
result $? "show: programs, as bpftool has them"
pin=$pins/schedlog/schedlog
bpftool map pin id "$id" /sys/fs/bpf/second
[ "$(holders '.pins | sort')" = "[\"$pin\",\"/sys/fs/bpf/second\"]" ]
result $? "show: pins"
rm /sys/fs/bpf/second
[ "$(holders .descriptors)" = "[]" ]
result $? "show: no process holds it"
python3 -c 'import ctypes, sys, time
print(ctypes.CDLL("libbpf.so.1").bpf_obj_get(sys.argv[1].encode()), flush=True)
time.sleep(1000)' "$pin" >"$tmp/fd" &
holder=$!
while [ ! -s "$tmp/fd" ]; do
	sleep 0.1
done
[ "$(holders '.descriptors | map([.pid, .fd, .comm])')" = "[[$holder,$(cat "$tmp/fd"),\"python3\"]]" ]
result $? "show: a process that holds it"
bpfrelay list | grep -q "^schedlog.$id .*$(echo "$programs" | jq length) program[s]*, 1 descriptor, 1 pin$"
result $? "list: how many hold it"
kill $holder
wait $holder 2>/dev/null
[ "$(holders '.descriptors')" = "[]" ]
result $? "show: it does not any more"

# shellcheck disable=SC2016 # the other shell's
unshare -m sh -c 'mkdir "$1/bpf" && mount -t bpf bpf "$1/bpf" && bpftool map pin id "$2" "$1/bpf/far" &&
	touch "$1/ready" && exec sleep 1000' sh "$tmp" "$id" &
holder=$!
for _ in $(seq 100); do
	[ ! -e "$tmp/ready" ] || break
	sleep 0.1
done
[ "$(holders '.pins | sort')" = "[\"/proc/$holder/root$tmp/bpf/far\",\"$pin\"]" ]
result $? "show: a pin in another mount namespace"
kill $holder
wait $holder 2>/dev/null
[ "$(holders .pins)" = "[\"$pin\"]" ]
result $? "show: it goes with that"
bpftool map create /sys/fs/bpf/outer type hash_of_maps key 4 value 4 entries 2 name outer inner_map id "$id" &&
	[ "$(holders .maps)" = "[]" ] &&
	bpftool map update pinned /sys/fs/bpf/outer key 1 0 0 0 value id "$id" &&
	[ "$(holders '.maps | map([.name, .type])')" = '[["outer","hash_of_maps"]]' ] &&
	bpfrelay show schedlog | grep -q "^ *map [0-9]* outer (hash_of_maps)$" &&
	bpfrelay list | grep -q "^schedlog.$id .* 1 pin, 1 map$"
result $? "show: a map of maps that it is in"
rm /sys/fs/bpf/outer

# OPTIONS COMMAND...: without these capabilities.
without()
{
	local caps=$1
	shift
	capsh --drop="$caps" -- -c "$*" >"$tmp/out" 2>"$tmp/err"
}
without cap_sys_admin,cap_bpf bpfrelay show -j schedlog && jq -e '.holders.all | not' "$tmp/out" >"$tmp/load"
result $? "show: says that it cannot see all holders"
without cap_sys_admin,cap_bpf bpfrelay load xdplog --dev lo
[ $? = 1 ] && grep -q "CAP_BPF" "$tmp/err" && [ ! -e /run/bpfrelay/xdplog ]
result $? "load: names the capabilities that are missing"
without cap_sys_admin,cap_bpf,cap_perfmon "bpfrelay cat schedlog && bpfrelay cat $pin"
result $? "cat: reading needs no capability of BPF"
setpriv --reuid 65534 --clear-groups bpfrelay cat "$pin" >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] && grep -q "not permitted: run as root (CAP_DAC_READ_SEARCH)" "$tmp/err"
result $? "cat: who may not read the pin is told so"
setpriv --reuid 65534 --clear-groups bpfrelay doctor >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] && grep -q "run as root (CAP_DAC_READ_SEARCH)" "$tmp/out" && grep -q "without CAP_BPF" "$tmp/out"
result $? "doctor: who may not read is told so"

bpfrelay load schedlog --name twin --size 4K --count 2 >"$tmp/out"
twin=$(bpfrelay list -j | jq '.[].map_id' | grep -vx "$id")
bpfrelay cat schedlog >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] && grep -q "the name of 2 logs" "$tmp/err" && grep -q "schedlog.$id$" "$tmp/err" &&
	grep -q "schedlog.$twin$" "$tmp/err" && bpfrelay cat "$twin" >"$tmp/out" 2>"$tmp/err"
result $? "cat: equal names are listed, the id is one's own"

bpfrelay stop -j twin | jq -e '.name == "twin" and .detached == 1' >"$tmp/out" &&
	bpfrelay start -j twin | jq -e '.attached == 1' >"$tmp/out"
result $? "stop -j, start -j"
bpfrelay load -j schedlog --replace | jq -e '.replaced and (.logs | length == 1)' >"$tmp/out" &&
	[ "$(bpfrelay show -j "schedlog.$id" | jq .map_id)" = "$id" ]
result $? "load -j --replace"
bpfrelay unload -j twin | jq -e '.logs | length == 1 and .[0].name == "schedlog" and .[0].removed' >"$tmp/out"
result $? "unload -j"
finish
