#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test_man.sh BPFRELAY MAN RST2MAN: the man pages say what the command's own tables say, and
# rst2man has nothing to complain about.

bpfrelay=$1
man=$2
rst2man=$3
suite='man'
# shellcheck source=userspace/tests/ktap.sh
. "$(dirname "$0")/ktap.sh"

"$bpfrelay" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | sort >"$out/commands"

# DIR: pages and commands that are there without the other.
strangers()
{
	comm -3 "$out/commands" <(basename -s .rst "$1"/bpfrelay-*.rst | sed 's/^bpfrelay-//' | sort)
	comm -3 "$out/commands" <(sed -n '/^COMMANDS$/,/^OPTIONS$/s/^\*\*bpfrelay-\([a-z]*\)\*\*\\ (1)$/\1/p' \
		"$1/bpfrelay.rst" | sort)
}

# FILE: a page with what it includes, as far as options and headings go.
whole()
{
	local included
	included=$(sed -n 's|^\.\. include:: ||p' "$1" | sort -u)
	# shellcheck disable=SC2086 # words
	(cd "$(dirname "$1")" && cat "$(basename "$1")" $included)
}

# DIR COMMAND: where the page and --help differ in options, or in the synopsis.
differences()
{
	diff <("$bpfrelay" "$2" --help | sed -n 's/^  \(-.*[^ ]\)  *[^ ].*/\1/p' |
			grep -oE '^(-., )?--[a-z-]+( [^ ]+)?' | sort) \
		<(whole "$1/bpfrelay-$2.rst" | grep -E '^(-., )?--[a-z]' | sort)
	diff <("$bpfrelay" "$2" --help | sed -n 's/^usage: //p') \
		<(whole "$1/bpfrelay-$2.rst" | sed -n '/^SYNOPSIS$/,/^DESCRIPTION$/s/^\*\*bpfrelay/&/p' | tr -d '*')
}

# FILE: sections that a page lacks.
missing_sections()
{
	local section
	for section in SYNOPSIS DESCRIPTION OPTIONS PRIVILEGES "EXIT STATUS" EXAMPLES "SEE ALSO"; do
		whole "$1" | grep -qx "$section" || echo "$section"
	done
}

[ -s "$out/commands" ] && [ -z "$(strangers "$man")" ]
result $? "a page for each command, and in bpfrelay(1) a line"
for page in "$man"/bpfrelay*.rst; do
	name=$(basename "$page" .rst)
	$rst2man --strict "$page" >"$out/page" 2>"$out/err" && [ ! -s "$out/err" ] &&
		grep -q "^\.TH \"${name^^}\" \"1\"" "$out/page"
	result $? "$name: is accepted by rst2man"
	[ -z "$(missing_sections "$page")" ]
	result $? "$name: has its sections"
done
while read -r command; do
	[ -z "$(differences "$man" "$command" | tee "$out/diff")" ]
	result $? "$command: the page has the options and the synopsis of --help"
	sed 's/^/# /' "$out/diff"
done <"$out/commands"

# The checks are able to fail: pages of which one is spoilt.
spoilt()	# COMMAND...
{
	rm -rf "$out/man"
	cp -r "$man" "$out/man"
	(cd "$out/man" && eval "$*")
}
spoilt "cp bpfrelay-cat.rst bpfrelay-dog.rst"
[ "$(strangers "$out/man" | tr -d '\t')" = dog ]
result $? "control: a page of no command is found out"
spoilt "rm bpfrelay-cat.rst"
[ "$(strangers "$out/man")" = cat ]
result $? "control: a command without a page"
spoilt "sed -i '/bpfrelay-cat/d' bpfrelay.rst"
[ "$(strangers "$out/man")" = cat ]
result $? "control: a command that bpfrelay(1) does not name"
spoilt "sed -i 's/^--since TIME/--after TIME/' common_select.rst"
differences "$out/man" cat | grep -q '^> --after TIME' && differences "$out/man" cat | grep -q '^< --since TIME'
result $? "control: an option that there is not, and one that is left out"
spoilt "sed -i '/^-p, --pretty/d' common_options.rst"
differences "$out/man" stop | grep -q '^< -p, --pretty'
result $? "control: an option of all commands that is left out"
spoilt "sed -i 's/\*DIR\*/*FILE*/' bpfrelay-snapshot.rst"
[ "$(differences "$out/man" snapshot)" ]
result $? "control: another synopsis"
spoilt "sed -i 's/^PRIVILEGES/& OF ITS USERS/' bpfrelay-cat.rst"
[ "$(missing_sections "$out/man/bpfrelay-cat.rst")" = PRIVILEGES ] &&
	! $rst2man --strict "$out/man/bpfrelay-cat.rst" >/dev/null 2>&1
result $? "control: a section that is missing; rst2man says what is wrong"

ktap_end
