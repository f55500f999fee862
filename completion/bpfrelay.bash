# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of bpfrelay in bash. Commands and options come from its own help: nothing
# here has to be changed for a new one, unless its value is of a new kind.

_bpfrelay_logs=/sys/kernel/debug/bpf_relay
_bpfrelay_loaded=/run/bpfrelay

# The words of standard input that begin as $1 does.
_bpfrelay_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$(cat)" -- "$1")
}

# "load WHAT", "cat LOG", ...
_bpfrelay_commands()
{
	"$1" help 2>/dev/null | sed -n 's/^  \([a-z]\+ *[][A-Z ]*\).*/\1/p'
}

# The options of a command, each as its help has it: "-n, --newest N", "--utc".
_bpfrelay_help()
{
	"$1" "$2" --help 2>/dev/null | grep -oE '^  (-[a-zA-Z], )?--[a-z-]+( [^ ]+)?' | sed 's/,//'
}

_bpfrelay_options()
{
	_bpfrelay_help "$@" | grep -o -- '--[a-z-]*'
}

# What the value of the option $3 of the command $2 is called; nothing if it takes none.
_bpfrelay_value()
{
	_bpfrelay_help "$1" "$2" | awk -v option="$3" '
		($1 == option || $2 == option) && $NF !~ /^-/ { print $NF }'
}

# Programs that are installed, as load looks for them.
_bpfrelay_installed()
{
	local here
	here=$(dirname "$(readlink -f "$(type -P "$1")")")
	printf '%s\n' "$here"/*.bpf.o "$here"/../lib/bpfrelay/*.bpf.o |
		sed -n 's|.*/\([^/*]*\)\.bpf\.o$|\1|p'
}

# Types of the log that is named somewhere on the command line.
_bpfrelay_types()
{
	local word
	for word in "${COMP_WORDS[@]:2}"; do
		case $word in
		-* | "") ;;
		*) "$1" show "$word" 2>/dev/null | sed -n 's/^type [0-9]*: \([^,]*\),.*/\1/p' ;;
		esac
	done
}

# What stands for $3: the word of a synopsis, or what an option's value is called.
_bpfrelay_complete()
{
	local command=$1 current=$2 kind=$3 name=$4

	case $kind in
	LOG)
		_bpfrelay_words "$current" < <(ls "$_bpfrelay_logs" 2>/dev/null)
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current")
		compopt -o filenames 2>/dev/null ;;
	NAME)
		if [ "$name" = --type ]; then
			_bpfrelay_words "$current" < <(_bpfrelay_types "$command")
		elif [ "$name" != --name ]; then
			_bpfrelay_words "$current" < <(ls "$_bpfrelay_loaded" 2>/dev/null)
		fi ;;
	WHAT)
		_bpfrelay_words "$current" < <(_bpfrelay_installed "$command")
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -X '!*.o' -- "$current"
			compgen -d -- "$current")
		compopt -o filenames 2>/dev/null ;;
	DIR | PATH)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		compopt -o filenames 2>/dev/null ;;
	FILE)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames 2>/dev/null ;;
	IF)
		_bpfrelay_words "$current" < <(ls /sys/class/net) ;;
	*'['*) ;;
	*'|'*)
		_bpfrelay_words "$current" <<<"${kind//|/ }" ;;
	esac
}

_bpfrelay()
{
	local bpfrelay=${COMP_WORDS[0]} command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}
	local previous=${COMP_WORDS[COMP_CWORD - 1]} kind word i nth=0 synopsis

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ] || { [ "$command" = help ] && [ "$COMP_CWORD" = 2 ]; }; then
		_bpfrelay_words "$current" < <(_bpfrelay_commands "$bpfrelay" | cut -d' ' -f1)
		return
	fi
	# Of "--mode=keep" bash makes three words.
	if [ "$current" = = ]; then
		current=
	elif [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ $previous = -* ]]; then
		kind=$(_bpfrelay_value "$bpfrelay" "$command" "$previous")
		if [ "$kind" ]; then
			_bpfrelay_complete "$bpfrelay" "$current" "$kind" "$previous"
			return
		fi
	fi
	if [[ $current = -* ]]; then
		_bpfrelay_words "$current" < <(_bpfrelay_options "$bpfrelay" "$command")
		return
	fi
	# Which of the arguments it is: those before it that are neither options nor their values.
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ $word != -* ]]; then
			nth=$((nth + 1))
		elif [ "${COMP_WORDS[i + 1]}" = = ]; then
			i=$((i + 2))
		elif [ "$(_bpfrelay_value "$bpfrelay" "$command" "$word")" ]; then
			i=$((i + 1))
		fi
	done
	read -ra synopsis < <(_bpfrelay_commands "$bpfrelay" | grep "^$command ")
	word=${synopsis[nth + 1]}
	_bpfrelay_complete "$bpfrelay" "$current" "${word//[][]/}" ""
}

complete -F _bpfrelay bpfrelay
