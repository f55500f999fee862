#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# text against ctf/ as babeltrace2 reads it: the same records, value for value, of every
# type that C and BTF know and of the programs in bpf/. As root, with BUILD set, bpfrelay
# in PATH and the module loaded.
set -u

test=text_values
# shellcheck source=selftests/programs.sh
. "$(dirname "$0")/programs.sh"
trap 'stop_busy; programs_cleanup' EXIT

here=$(dirname "$(readlink -f "$0")")

# LOG: text and a copy of ctf/.
copy()
{
	rm -rf "$tmp/ctf" "$tmp/text"
	cat $logs/"$1".*/text >"$tmp/text"
	cp -r $logs/"$1".*/ctf "$tmp/ctf"
}

compare()
{
	python3 "$here/text_values.py" "$tmp/ctf" "$@"
}

# LOG MINIMUM
equal()
{
	local verdict records

	copy "$1"
	verdict=$(compare "$tmp/text")
	read -r _ records _ <<<"$verdict"
	[[ $verdict = same:* ]] && [ "$records" -ge "$2" ]
	result $? "$1: records, types, values: $verdict"
}

# WHAT SED: text, altered.
control()
{
	controls+=("$1")
	altered+=("$tmp/altered.${#controls[@]}")
	sed "$2" "$tmp/text" >"${altered[-1]}"
}

# The comparison finds each of them.
controls_are_found()
{
	local i=0 verdict

	while read -r verdict; do
		[[ $verdict = differs:* ]] && ! cmp -s "$tmp/text" "${altered[i]}"
		result $? "control, ${controls[i]}: $verdict"
		i=$((i + 1))
	done < <(compare "${altered[@]}")
	[ $i = ${#controls[@]} ] || result 1 "$i controls of ${#controls[@]}"
}

controls=() altered=()
echo "KTAP version 1"
start_busy a
says 0 "^types: " load "$BUILD/selftests/types.bpf.o"
result $? "a log of every type"
tell a tick 3
says 0 "detached" stop types
equal types 60
control "a line is missing" '20d'
control "two lines change places" '20{h;d};21G'
control "one digit of a time" '20s/\(...\)Z/\11Z/'
control "a CPU" '20s/ cpu./ cpu9/'
control "a number" '0,/ e=4294967295/s// e=4294967294/'
control "an enumerator" '0,/=PLAIN_LARGE/s//=PLAIN_ZERO/'
control "a string" '0,/="some/s//="same/'
control "an address" '0,/=10\.0\.0\.1/s//=10.0.0.2/'
control "a symbol" '0,/schedule+0x4/s//schedule+0x5/'
control "bytes" '0,/a0a1a2/s//a0a1a3/'
control "padding is shown" '0,/ f=/s// pad_9=0 f=/'
controls_are_found
bpfrelay unload types >/dev/null

says 0 "^schedlog: " load schedlog
tell a tick 50
says 0 "detached" stop schedlog
equal schedlog 20
bpfrelay unload schedlog >/dev/null

says 0 "^stacklog: " load stacklog --freq 99
tell a spin 1000
says 0 "detached" stop stacklog
equal stacklog 20
bpfrelay unload stacklog >/dev/null

says 0 "^tcplog: " load tcplog
python3 - <<'PY'
import socket
for family, address in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
    server = socket.create_server((address, 0), family=family)
    client = socket.create_connection(server.getsockname()[:2])
    peer = server.accept()[0]
    for _ in range(20):
        client.sendall(b"text")
        peer.recv(4)
PY
says 0 "detached" stop tcplog
equal tcplog 40
bpfrelay unload tcplog >/dev/null

finish
