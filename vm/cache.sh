# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The cache of images and kernels, for vm/image and vm/debug-kernel: directories that
# are built once, and that a lock beside them holds while somebody uses them.

cache=${BPF_RELAY_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bpf_relay}

say()
{
	echo "vm: $*" >&2
}

# 125: the runner's own error, as in vm/run.
die()
{
	say "$@"
	exit 125
}

cache_cleanup()
{
	rm -rf "$work" "$new"
}

# cache_hold KEY WHAT: the directory $held of the cache is there, and stays while this
# process lives or a command that it executes. The caller has two functions: missing, and
# build, which makes $new, with $work to work in.
cache_hold()
{
	local what=$2 lock

	held=$cache/$1
	work=$held.work
	new=$held.new
	mkdir -p "$cache" || die "cannot make the cache directory $cache"
	[ -e "$held.lock" ] || : >"$held.lock" || die "cannot write to the cache directory $cache"
	# The lock stays in the file descriptor, which the command inherits.
	exec {lock}<"$held.lock"
	touch "$held.lock" 2>/dev/null || true # for cache_expire; fails in somebody else's cache
	flock -n -s "$lock" || {
		say "waiting for another run to build $what"
		flock -s "$lock"
	}
	missing || return 0

	flock -n -x "$lock" || {
		say "waiting for another run to finish with $what"
		flock -x "$lock"
	}
	trap cache_cleanup EXIT
	trap 'say "building failed: line $LINENO of ${BASH_SOURCE[0]}: $BASH_COMMAND"' ERR
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	cache_cleanup
	mkdir -p "$work" || die "cannot write to the cache directory $cache"
	if missing; then
		build
		cache_expire
	fi
	cache_cleanup
	trap - EXIT ERR INT TERM HUP
	flock -s "$lock"
}

# To be called by build() when $new is complete.
cache_done()
{
	rm -rf "$held"
	mv "$new" "$held"
	say "$1 is $held"
}

# What nobody holds and nobody has used for a day, or two working trees would take turns
# at building. Locks stay: somebody may be about to take one.
cache_expire()
{
	local old

	find "$cache" -maxdepth 1 -name '*.lock' ! -path "$held.lock" -mtime +0 |
		while read -r old; do
			flock -n -x "$old" rm -rf "${old%.lock}"{,.new,.work} || true
		done
}
