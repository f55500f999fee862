#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Reading without being root: as a member of the group that gid= names, and in a container
# that has no capability and of the logs nothing but their directory, as
# Documentation/reading.rst says; writing in one that has what writing takes. As root, with
# BUILD set, bpfrelay in PATH and the module loaded.
set -u

test=container
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
trap 'mount -o remount,mode=0700,gid=0 /sys/kernel/debug; programs_cleanup' EXIT

gid=4321
parameters=/sys/module/bpf_relay/parameters

# CAPABILITIES UID GID COMMAND...: in a container that has these and no others ("-all": none).
contain()
{
	ROOT=$tmp/root unshare --mount --pid --fork --ipc --uts --net --cgroup -- bash -ec '
		mount -t tmpfs none "$ROOT"
		cd "$ROOT"
		mkdir -p usr opt proc tmp run sys/kernel/debug/bpf_relay
		chmod 1777 tmp
		for link in bin lib lib64; do ln -s usr/$link $link; done
		mount --bind -o ro /usr usr
		mount --bind -o ro "$BUILD" opt
		mount -t proc none proc
		if [ "$1" = -all ]; then
			mount --bind -o ro /sys/kernel/debug/bpf_relay sys/kernel/debug/bpf_relay
		else
			mount --rbind /sys sys
		fi
		exec chroot . setpriv --reuid "$2" --regid "$3" --clear-groups --no-new-privs \
			--inh-caps=-all --bounding-set="$1" env PATH=/opt:/bin "${@:4}"
	' contain "$@"
}

# COMMAND...: as a user of this group, and of no other.
as_member()
{
	setpriv --reuid 1000 --regid $gid --clear-groups "$@"
}

echo "KTAP version 1"
mkdir "$tmp/root"
chmod 711 "$tmp"
echo 0440 >$parameters/mode && echo $gid >$parameters/gid &&
	says 0 "^schedlog: " load schedlog --size 16K --count 4
result $? "a log of the group"
sleep 1
bpfrelay stop schedlog >/dev/null
bpfrelay cat --mono schedlog >"$tmp/want"

! as_member bpfrelay cat schedlog >"$tmp/out" 2>"$tmp/err"
result $? "control, debugfs is closed to the group"
mount -o remount,mode=0750,gid=$gid /sys/kernel/debug
as_member bpfrelay cat --mono schedlog 2>"$tmp/err" | cmp "$tmp/want"
result $? "a member of the group reads what root reads"
! setpriv --reuid 1000 --regid 1000 --clear-groups bpfrelay cat schedlog >"$tmp/out" 2>"$tmp/err"
result $? "control, others do not"
mount -o remount,mode=0700,gid=0 /sys/kernel/debug

contain -all 1000 $gid bpfrelay cat --mono schedlog 2>"$tmp/err" >"$tmp/out"
cmp "$tmp/want" "$tmp/out"
result $? "a container reads what root reads"
contain -all 1000 $gid sh -c 'cat /proc/self/status; find /sys -maxdepth 3' >"$tmp/out" 2>"$tmp/err"
[ "$(grep -c '^Cap[A-Z][a-z]*:.0*$' "$tmp/out")" = 5 ] && [ "$(grep -c ^/ "$tmp/out")" = 4 ]
result $? "it has no capability, and nothing else of the kernel's files"
contain -all 1000 $gid sh -c 'bpfrelay list && bpfrelay stats schedlog &&
	head -1 /sys/kernel/debug/bpf_relay/schedlog.*/text && bpfrelay snapshot schedlog /tmp/trace &&
	bpfrelay cat --mono /tmp/trace' >"$tmp/out" 2>"$tmp/err" && grep -q "^# bpf_relay log=schedlog" "$tmp/out" &&
	tail -n "$(wc -l <"$tmp/want")" "$tmp/out" | cmp - "$tmp/want"
result $? "list, stats, text and snapshot there"
! contain -all 1000 1000 bpfrelay cat schedlog >"$tmp/out" 2>"$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ]
result $? "control, without the group it is refused"
bpfrelay unload schedlog >/dev/null

echo 0400 >$parameters/mode && echo 0 >$parameters/gid
contain -all,+sys_admin 0 0 sh -c 'bpfrelay load schedlog &&
	bpfrelay cat schedlog && bpfrelay unload schedlog' >"$tmp/out" 2>"$tmp/err"
result $? "a container with sys_admin and /sys loads, reads and unloads"
! contain -all,+bpf,+perfmon,+net_admin 0 0 bpfrelay load schedlog >"$tmp/out" 2>"$tmp/err" &&
	[ "$(wc -l <"$tmp/err")" -gt 0 ]
result $? "control, not with bpf, perfmon and net_admin instead"
nothing_left
result $? "nothing is left"
finish
