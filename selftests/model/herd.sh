#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# herd.sh FILE.litmus...: what herd7 says of litmus tests under the LKMM, against
# their "Result:", which the explorer was held to as well. And the other way round:
# what the explorer says of the kernel's own litmus tests, against their "Result:".
# KTAP; what cannot be had is skipped, never passed.
#
# herdtools7 is in Debian testing only: it gets a file system of its own, in the
# cache. The model comes from the package linux-source-6.12 of Debian 13.
#
# Environment: MODEL, the explorer; MIRROR and BPF_RELAY_CACHE as for vm/image;
# NO_HERD=1 skips.
set -u -o pipefail

cache=${BPF_RELAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bpf_relay}
root=$cache/herd-1
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
why=

settings()
{
	apt-config dump | grep -E '".+";$' |
		grep -E '^Acquire::(https?|Retries|ForceIPv[46]|Check-[A-Za-z-]+)[: ]' || true
}

# The kernel's model and litmus tests from mirror $2 into $1.
get_model()
{
	local work=$1/apt source=linux-source-6.12
	local apt=(-o Dir::State="$work" -o Dir::State::status="$work/status"
		   -o Dir::Cache="$work/cache" -o Dir::Etc::SourceList="$work/sources"
		   -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null
		   -o Dir::Etc::PreferencesParts=/dev/null -o APT::Sandbox::User=root)

	mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
	: >"$work/status"
	echo "deb [signed-by=$keyring] $2 trixie main" >"$work/sources"
	apt-get "${apt[@]}" update --error-on=any &&
		(cd "$work" && apt-get "${apt[@]}" download -q "$source") &&
		dpkg-deb --fsys-tarfile "$work/$source"_*.deb | tar -xO "./usr/src/$source.tar.xz" |
			tar -xJ -C "$work" "$source/tools/memory-model" &&
		mv "$work/$source/tools/memory-model" "$1/memory-model" &&
		rm -rf "$work"
}

get_root()
{
	local new=$root.new mirror setting aptopts=()

	while read -r setting; do
		aptopts+=(--aptopt="$setting")
	done < <(settings)
	for mirror in ${MIRROR:-$(apt-get update --print-uris |
			sed -n "s|^'\(.*\)/dists/.*/InRelease'.*|\1|p" | awk '!seen[$0]++')}; do
		rm -rf "$new"
		mkdir -p "$cache"
		mmdebstrap --mode=root --variant=apt --format=directory --include=herdtools7 \
			"${aptopts[@]}" --dpkgopt=force-unsafe-io \
			--dpkgopt='path-exclude=/usr/share/man/*' \
			--dpkgopt='path-exclude=/usr/share/doc/*' \
			--dpkgopt='path-exclude=/usr/share/locale/*' \
			testing "$new" "deb [signed-by=$keyring] $mirror testing main" &&
			get_model "$new" "$mirror" && mv "$new" "$root" && return
	done
	return 1
}

prepare()
{
	[ -z "${NO_HERD:-}" ] || { why="not wanted (NO_HERD)"; return; }
	[ ! -d "$root" ] || return
	[ "$(id -u)" = 0 ] || { why="only root can install herdtools7 for itself"; return; }
	command -v mmdebstrap >/dev/null || { why="no mmdebstrap here"; return; }
	[ -e "$keyring" ] || { why="no debian-archive-keyring here"; return; }
	mkdir -p "$cache"
	get_root >"$cache/herd.log" 2>&1 || why="cannot install herdtools7: $cache/herd.log"
	rm -rf "$root.new"
}

n=0
failed=0
result()
{
	n=$((n + 1))
	[ "$1" = ok ] || failed=1
	echo "$1 $n - $2"
}

# $1 in the root's file system, next to the model.
observe()
{
	local work

	work=$(mktemp -d "$root/memory-model/run.XXXXXX") || return
	cp "$1" "$work/test.litmus"
	# shellcheck disable=SC2016
	chroot "$root" sh -c 'cd /memory-model && exec herd7 -conf linux-kernel.cfg "$1"' sh \
		"$(basename "$work")/test.litmus" |
		awk '$1 == "Observation" { print $3 }'
	rm -rf "$work"
}

# Those that the explorer understands. It has no load buffering, and says so.
kernel_tests()
{
	local file agree=0 unknown=0 differ=0 out

	for file in "$root"/memory-model/litmus-tests/*.litmus; do
		case $(basename "$file") in
		LB*) unknown=$((unknown + 1)); continue ;;
		esac
		out=$("$MODEL" -L "$file" -)
		case $out in
		*"not understood"*) unknown=$((unknown + 1)) ;;
		*"not ok"*) differ=$((differ + 1)); echo "# differs: $(basename "$file")" ;;
		*) agree=$((agree + 1)) ;;
		esac
	done
	echo "# the kernel's litmus tests: $agree as the kernel says, $differ not," \
		"$unknown not understood"
	[ "$differ" -eq 0 ] && [ "$agree" -ge 15 ]
}

exec 9>"${TMPDIR:-/tmp}/bpf_relay-herd.lock"
flock 9
prepare
echo "KTAP version 1"
echo "1..$(($# + 1))"
for file; do
	name=$(basename "$file" .litmus)
	if [ -n "$why" ]; then
		result ok "herd.$name # SKIP $why"
		continue
	fi
	wanted=$(sed -n 's/.*Result: \(Never\|Sometimes\).*/\1/p' "$file")
	seen=$(observe "$file")
	echo "# $name: herd7 says ${seen:-nothing}"
	if [ -n "$wanted" ] && [ "$seen" = "$wanted" ]; then
		result ok "herd.$name"
	else
		result "not ok" "herd.$name"
	fi
done
if [ -n "$why" ]; then
	result ok "herd.kernel-tests # SKIP $why"
elif kernel_tests; then
	result ok herd.kernel-tests
else
	result "not ok" herd.kernel-tests
fi
exit $failed
