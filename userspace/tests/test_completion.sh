#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_completion.sh BPFRELAY SCRIPT TRACE: what the completion proposes, as bash would ask it.

suite=completion
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

mkdir -p "$out/bin" "$out/lib/bpfrelay" "$out/logs/tcplog.12" "$out/logs/other.3" "$out/run/mine"
cp "$1" "$out/bin/bpfrelay"
touch "$out/lib/bpfrelay/tcplog.bpf.o" "$out/lib/bpfrelay/xdplog.bpf.o" "$out/object.o" "$out/notes"
trace=$3
PATH=$out/bin:$PATH
# shellcheck source=completion/bpfrelay.bash
. "$2"
_bpfrelay_logs=$out/logs
_bpfrelay_loaded=$out/run
cd "$out" || exit 1

# WORDS: what is proposed for the last of them, in one line.
ask()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_bpfrelay
	printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd' '
}

# EXPECTED WORDS...
proposes()
{
	local expected=$1
	shift
	got=$(ask "$@")
	[ "$got" = "$expected" ]
	result $? "${*//$trace/TRACE}"
	[ "$got" = "$expected" ] || echo "# proposed: $got"
}

all=$(bpfrelay help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort | paste -sd' ')
[ "$(echo "$all" | wc -w)" -ge 11 ]
result $? "help lists commands"
proposes "$all" bpfrelay ""
proposes "$all" bpfrelay help ""
proposes "show snapshot start stats stop" bpfrelay s
for c in $all; do
	want=$(bpfrelay "$c" --help | grep -o '^  \(-., \)\?--[a-z]*' | grep -o -- '--.*' | sort | paste -sd' ')
	proposes "$want" bpfrelay "$c" --
done
proposes "--complete --cpu --ctf" bpfrelay cat --c
proposes "other.3 tcplog.12" bpfrelay cat o | grep -q "^not ok"
result $? "control: another answer is found out"
proposes "bin lib logs other.3 run tcplog.12" bpfrelay cat ""
proposes "tcplog.12" bpfrelay cat -n 5 --utc tc
proposes "logs" bpfrelay snapshot tcplog.12 lo
proposes "" bpfrelay stats tcplog.12 ""
proposes "mine" bpfrelay stop ""
proposes "mine" bpfrelay unload mi
proposes "bin lib logs object.o run tcplog xdplog" bpfrelay load ""
proposes "keep overwrite" bpfrelay load tcplog --mode ""
proposes "keep" bpfrelay load tcplog --mode k
proposes "keep" bpfrelay load tcplog --mode = k
proposes "boot mono" bpfrelay load tcplog --clock =
proposes "lo" bpfrelay load xdplog --dev lo
proposes "" bpfrelay load tcplog --size ""
proposes "more one raw" bpfrelay cat "$trace" --type ""
proposes "lib logs" bpfrelay doctor --root l
proposes "chrome folded jsonl openmetrics pcapng" bpfrelay export tcplog.12 --format ""
proposes "logs" bpfrelay export tcplog.12 -o lo
proposes "notes" bpfrelay export tcplog.12 --output no
proposes "" bpfrelay list ""
proposes "" bpfrelay nosuch ""
[ "$(complete -p bpfrelay)" = "complete -F _bpfrelay bpfrelay" ]
result $? "is bound to the command"

ktap_end
