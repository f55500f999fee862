#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The same records from whatever reads them: bpfrelay cat from memory, from ctf/ and from
# a copy, as text and as JSON, the file `text`, babeltrace2. A follower sees all of them,
# or counts. Snapshots under load. As root, with BUILD set, bpfrelay in PATH and the
# module loaded.
set -u

test='cat'
# shellcheck source=selftests/programs.sh disable=SC2154
. "$(dirname "$0")/programs.sh"

# So many sleeps of new processes: context switches to record.
switches()
{
	for _ in $(seq "$1"); do
		sleep 0.001
	done
}

bpfrelay load schedlog --size 16K --count 8 >"$tmp/out" 2>"$tmp/err"
result $? "a log"
dir=$(find "$logs" -name 'schedlog.*')
switches 200
bpfrelay stop schedlog >/dev/null

bpfrelay cat -v --mono schedlog >"$tmp/cat" 2>"$tmp/how" && [ "$(grep -vc '^#' "$tmp/cat")" = "$(stats_of schedlog entries)" ]
result $? "cat: as many records as stats says"
grep -q "reading its memory" "$tmp/how" || ! [ -e "$dir/mem" ]
result $? "cat: from memory if the log shows it"
bpfrelay cat --ctf --mono schedlog | cmp -s "$tmp/cat"
result $? "cat: the same from ctf/"
cp -r "$dir/ctf" "$tmp/copy"
bpfrelay cat --mono "$tmp/copy" | cmp -s "$tmp/cat"
result $? "cat: the same from a copy"
bpfrelay snapshot schedlog "$tmp/snap" >"$tmp/out" && bpfrelay cat --mono "$tmp/snap" | cmp -s "$tmp/cat"
result $? "cat: the same from a snapshot"

numbers()	# of lines with prev_pid=N and next_pid=N, in whatever syntax: TS CPU PREV NEXT
{
	sed -n 's/^\([0-9]*\)\.\([0-9]*\) cpu\([0-9]*\) .*prev_pid=\([0-9]*\) next_pid=\([0-9]*\).*/\1\2 \3 \4 \5/p' "$1"
}
numbers "$tmp/cat" >"$tmp/numbers"
[ -s "$tmp/numbers" ] && bpfrelay cat -j schedlog |
	jq -r '"\(.ts) \(.cpu) \(.fields.prev_pid) \(.fields.next_pid)"' | cmp -s "$tmp/numbers"
result $? "cat -j: the same records"
babeltrace2 --clock-cycles --no-delta "$tmp/copy" 2>"$tmp/err" |
	sed -n 's/^\[0*\([0-9]*\)\].*cpu_id = \([0-9]*\).*prev_pid = \([0-9]*\), next_pid = \([0-9]*\).*/\1 \2 \3 \4/p' |
	sort >"$tmp/bt2"
[ ! -s "$tmp/err" ] && sort "$tmp/numbers" | cmp -s "$tmp/bt2"
result $? "babeltrace2: the same records"
if [ -e "$dir/text" ]; then
	grep -v '^#' "$dir/text" | cut -d' ' -f2- >"$tmp/text"
	grep -v '^#' "$tmp/cat" | cut -d' ' -f2- | cmp -s "$tmp/text"
	result $? "text: the same lines"
fi
tail -n +2 "$tmp/cat" | cmp -s "$tmp/cat"
[ $? = 1 ]
result $? "control: a record less is found out"

bpfrelay list -j | jq -e --argjson n "$(stats_of schedlog entries)" \
	'.[] | select(.name | startswith("schedlog.")) | .records == $n' >"$tmp/out"
result $? "list -j: its records"
bpfrelay stats -j schedlog | jq -e --argjson n "$(stats_of schedlog 'stored events')" \
	'[.cpus[].stored] | add == $n' >"$tmp/out"
result $? "stats -j: what is stored"

# From the first record on, while all of it is overwritten several times.
bpfrelay unload schedlog >/dev/null
bpfrelay load schedlog --size 4K --count 2 >"$tmp/out"
bpfrelay cat -f schedlog >"$tmp/follow" 2>"$tmp/err" &
follower=$!
for _ in $(seq 10); do
	switches 100
	sleep 0.2
done
bpfrelay stop schedlog >/dev/null
sleep 2
kill $follower
wait $follower 2>/dev/null
followed=$(grep -vc '^#' "$tmp/follow")
lost=$(awk '/^# cpu [0-9]*: [0-9]* records/ { n += $4 } END { print n + 0 }' "$tmp/follow")
stored=$(stats_of schedlog "stored events")
echo "# $followed followed, $lost lost, $stored stored"
[ "$followed" -gt 0 ] && [ $((followed + lost)) = "$stored" ]
result $? "cat -f: all that was stored is seen or counted"
bpfrelay unload schedlog >/dev/null

bpfrelay load schedlog --size 16K --count 4 >"$tmp/out"
good=0
for i in $(seq 20); do
	bpfrelay snapshot schedlog "$tmp/many" >"$tmp/out" 2>"$tmp/err" || break
	babeltrace2 "$tmp/many" 2>"$tmp/err" >/dev/null || break
	[ ! -s "$tmp/err" ] || break
	rm -r "$tmp/many"
	good=$i
done
[ "$good" = 20 ]
result $? "20 snapshots of a log that is being written, each read by babeltrace2"

setpriv --reuid 65534 --clear-groups bpfrelay cat schedlog >"$tmp/out" 2>"$tmp/err"
[ $? = 1 ] && grep -q "not permitted: run as root" "$tmp/err"
result $? "who may not read it is told so"
bpfrelay cat -f schedlog >/dev/null 2>"$tmp/err" &
follower=$!
sleep 1
bpfrelay unload schedlog >/dev/null
wait $follower
[ $? = 1 ] && grep -q "the log was closed" "$tmp/err"
result $? "cat -f ends with the log"
finish
