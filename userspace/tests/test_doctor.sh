#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_doctor.sh BPFRELAY: doctor on a machine of files that is well, and with each thing
# that it looks at out of order, in turn. And version.

bpfrelay=$1
suite=doctor
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

release=6.12.90-test
modules=lib/modules/$release
logs=sys/kernel/debug/bpf_relay
abi=$("$bpfrelay" version -j | jq .abi)

# A module for modinfo.
module_file()	# VERSION SRCVERSION FILE
{
	printf 'version=%s\0srcversion=%s\0' "$1" "$2" >"$out/modinfo"
	echo | cc -c -x c - -o "$out/module.o" &&
		objcopy --add-section .modinfo="$out/modinfo" "$out/module.o" "$3"
}
module_file "$abi.0.0" AAAA "$out/as-loaded.ko"
module_file "$abi.0.1" BBBB "$out/upgraded.ko"

put()		# FILE TEXT
{
	mkdir -p "$(dirname "$root/$1")"
	echo "$2" >"$root/$1"
}

healthy()
{
	root=$out/root
	rm -rf "$root"
	put proc/sys/kernel/osrelease "$release"
	put proc/sys/kernel/modules_disabled 0
	put proc/sys/kernel/unprivileged_bpf_disabled 2
	put proc/sys/kernel/kptr_restrict 1
	put proc/sys/net/core/bpf_jit_enable 1
	put proc/sys/net/core/bpf_jit_harden 0
	put proc/cmdline "root=/dev/vda"
	put proc/self/status "CapEff:	000001ffffffffff"
	put proc/self/mounts "debugfs /sys/kernel/debug debugfs rw 0 0
bpf /sys/fs/bpf bpf rw 0 0"
	put sys/kernel/btf/vmlinux btf
	put sys/kernel/security/lockdown "[none] integrity confidentiality"
	put sys/module/module/parameters/sig_enforce N
	put sys/module/bpf_relay/initstate live
	put sys/module/bpf_relay/version "$abi.0.0"
	put sys/module/bpf_relay/srcversion AAAA
	put $modules/modules.dep "updates/bpf_relay.ko: kernel/other.ko
kernel/fs/bpf_relay.kofoo.ko:"
	mkdir -p "$root/$modules/updates"
	cp "$out/as-loaded.ko" "$root/$modules/updates/bpf_relay.ko"
	mkdir -p "$root/$logs"
}

examine()
{
	"$bpfrelay" doctor -j --root "$root" >"$out/json" 2>"$out/err"
	got=$?
}

healthy
examine
[ $got = 0 ] && [ ! -s "$out/err" ] && jq -e 'length > 10 and all(.verdict == "ok" and .todo == null)' "$out/json" >/dev/null
result $? "a machine that is well"
jq -r '.[].check' "$out/json" | sort >"$out/checks"
: >"$out/tried"

# CHECK VERDICT STATUS TEXT COMMAND...: what COMMAND does to the machine is found out.
sick()
{
	check=$1 verdict=$2 status=$3 text=$4
	shift 4
	healthy
	(cd "$root" && eval "$*") || echo "# cannot: $*"
	examine
	[ $got = "$status" ] && [ "$(wc -l <"$out/err")" = "$status" ] &&
		jq -e --arg check "$check" --arg verdict "$verdict" --arg text "$text" \
			'map(select(.check == $check))[0] | .verdict == $verdict and
			 (.found + " -> " + (.todo // "") | contains($text))' "$out/json" >/dev/null
	result $? "$check: $verdict: $text"
	echo "$check" >>"$out/tried"
}

unloaded="rm -r sys/module/bpf_relay $logs"

sick kernel problem 1 "boot Linux 6.12 or newer" "echo 6.11.9 >proc/sys/kernel/osrelease"
sick kernel problem 1 "boot Linux 6.12 or newer" "echo 5.15.0 >proc/sys/kernel/osrelease"
sick BTF problem 1 CONFIG_DEBUG_INFO_BTF "rm sys/kernel/btf/vmlinux"
sick JIT problem 1 "sysctl net.core.bpf_jit_enable=1" "echo 0 >proc/sys/net/core/bpf_jit_enable"
sick "module file" note 0 "not in /lib/modules/$release" "echo >$modules/modules.dep"
sick "module file" problem 1 "make install" "$unloaded; rm $modules/modules.dep"
sick module problem 1 "modprobe bpf_relay" "$unloaded"
sick module problem 1 "not loaded" "echo going >sys/module/bpf_relay/initstate"
sick ABI problem 1 "of the module 77" "echo 77.3 >sys/module/bpf_relay/version"
sick ABI note 0 "until a log is open" "rm sys/module/bpf_relay/version"
upgraded="cp '$out/upgraded.ko' $modules/updates/bpf_relay.ko"
sick "module version" note 0 "$abi.0.0 (AAAA) is loaded, $abi.0.1 (BBBB) is installed" "$upgraded"
sick "module version" note 0 "rmmod bpf_relay && modprobe bpf_relay" \
	"$upgraded; xz $modules/updates/bpf_relay.ko; echo updates/bpf_relay.ko.xz: >$modules/modules.dep"
sick "module version" ok 0 "not compared" "rm sys/module/bpf_relay/srcversion"
sick "module version" ok 0 "not compared" "echo code >$modules/updates/bpf_relay.ko"
sick "modules allowed" ok 0 "kernel.modules_disabled is 1" "echo 1 >proc/sys/kernel/modules_disabled"
sick "modules allowed" problem 1 "boot again" "echo 1 >proc/sys/kernel/modules_disabled; $unloaded"
enforce="echo Y >sys/module/module/parameters/sig_enforce"
sick "module signature" ok 0 "the module is loaded" "$enforce"
sick "module signature" problem 1 "not signed" "$enforce; $unloaded"
sick "module signature" ok 1 "the module is signed" \
	"$enforce; $unloaded; echo '~Module signature appended~' >>$modules/updates/bpf_relay.ko"
sick "module signature" note 1 "sign it" \
	"$enforce; $unloaded; echo updates/bpf_relay.ko.xz: >$modules/modules.dep"
lockdown=sys/kernel/security/lockdown
sick lockdown note 0 "integrity; modules must be signed" "echo 'none [integrity] confidentiality' >$lockdown"
sick lockdown note 0 "boot with lockdown=integrity" "echo 'none integrity [confidentiality]' >$lockdown"
sick lockdown ok 0 none "rm $lockdown"
sick debugfs problem 1 "mount -t debugfs debugfs /sys/kernel/debug" "sed -i /debugfs/d proc/self/mounts"
sick debugfs problem 1 "boot without debugfs=off" "echo debugfs=off >proc/cmdline"
sick bpffs problem 1 "mount -t bpf bpf /sys/fs/bpf" "sed -i /bpffs/d\;/^bpf/d proc/self/mounts"
sick reading problem 1 "mount debugfs, then" "rmdir $logs"
sick capabilities note 0 "without CAP_BPF, CAP_PERFMON ->" \
	"echo 'CapEff:	0000003fffffffff' >proc/self/status"
sick "unprivileged BPF" ok 0 "kernel.unprivileged_bpf_disabled is 0" \
	"echo 0 >proc/sys/kernel/unprivileged_bpf_disabled"
sick "kernel names" note 0 "sysctl kernel.kptr_restrict=1" "echo 2 >proc/sys/kernel/kptr_restrict"
sick "JIT hardening" note 0 "sysctl net.core.bpf_jit_harden=1" "echo 2 >proc/sys/net/core/bpf_jit_harden"

# What is not known is not fine.
sick "JIT hardening" note 0 "is not known: No such file" "rm proc/sys/net/core/bpf_jit_harden"
sick JIT note 0 "net.core.bpf_jit_enable is not known: No such file" "rm proc/sys/net/core/bpf_jit_enable"

sort -u "$out/tried" | cmp -s "$out/checks"
result $? "each check was made to find something"

check 1 "nosuch: No such file" doctor --root "$out/nosuch"

# Without the version the ABI comes from a log.
healthy
rm "$root/sys/module/bpf_relay/version"
put $logs/x.1/stats "abi: 76
subbuf_size: 4096"
put $logs/x.1/ctf/metadata "$(cat "$2/metadata")"
examine
jq -e 'any(.check == "ABI" and .verdict == "problem" and (.found | endswith("module 76")))' "$out/json" >/dev/null
result $? "the ABI that a log names"

if [ "$(id -u)" = 0 ]; then
	healthy
	chmod 755 "$out" "$root"
	chmod 700 "$root/sys/kernel/debug"
	setpriv --reuid 65534 --clear-groups "$bpfrelay" doctor --root "$root" >"$out/text" 2>"$out/err"
	[ $? = 1 ] && grep -q '^problem *reading .*Permission denied$' "$out/text" &&
		grep -q 'run as root (CAP_DAC_READ_SEARCH)' "$out/text"
	result $? "reading: who may not is told so"
fi

healthy
rm "$root/sys/kernel/btf/vmlinux"
"$bpfrelay" doctor --root "$root" >"$out/text" 2>"$out/err"
[ $? = 1 ] && [ "$(cat "$out/err")" = "bpfrelay: 1 essential check failed" ] &&
	[ "$(grep -cE '^(ok|note|problem) ' "$out/text")" = "$(wc -l <"$out/checks")" ] &&
	grep -A1 '^problem  BTF ' "$out/text" | grep -q '^ * -> boot a kernel'
result $? "as text"

# Colours go to terminals only, and not with NO_COLOR.
in_terminal()
{
	TERM=$1 script -qec "'$bpfrelay' doctor --root '$root'" /dev/null </dev/null
}
escape=$(printf '\033')
in_terminal xterm | grep -q "$escape" && ! in_terminal dumb | grep -q "$escape" &&
	! NO_COLOR=1 in_terminal xterm | grep -q "$escape" && ! grep -q "$escape" "$out/text"
result $? "colours in a terminal only, and not with NO_COLOR"

"$bpfrelay" version >"$out/text" && "$bpfrelay" --version | cmp -s "$out/text" &&
	grep -qx "ABI *$abi" "$out/text" && grep -q "^kernel *$(uname -r)$" "$out/text" &&
	grep -q '^module *[a-z0-9]' "$out/text"
result $? "version"
"$bpfrelay" version -j | jq -e '.bpfrelay and .libbpfrelay == .bpfrelay and .libbpf and has("module")' >/dev/null
result $? "version -j"

ktap_end
