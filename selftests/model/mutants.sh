#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Rings that are broken on purpose, each by a patch of ../mutants: somebody must
# notice. Called by the Makefile.
#
#	mutants.sh all [NAME...]	everybody who notices each
#	mutants.sh first [NAME...]	the first who does
#
# Who: the small scenarios of the model; the unit tests of ../ring, interrupts and (of
# memory-order mutants, which must pass them) threads; if none of them, all scenarios.
# The ring as it is must pass (all scenarios: `make check`). KTAP.
#
# Environment: CC, CXX, OUT (a directory), SRC (kernel/), UAPI, OBJECTS of the model,
# RING (../ring), UNITS and THREADS: objects of the unit tests.

mode=$1
shift
number=0
failed=0
only_model=0
clock=0
# Whether others catch them, too, is not asked in `first`.
alone=$([ "$mode" = all ] && echo " alone")
patches=
for patch in ../mutants/*.patch; do
	name=$(basename "$patch" .patch)
	case " $* " in
	"  " | *" $name "*) patches="$patches $patch" ;;
	esac
done
case " $* " in
"  " | *" none "*) patches="none $patches" ;;
esac

result()
{
	number=$((number + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $number - mutants.$2"
}

# Without any fuzz: a patch whose surroundings have changed may mean something else.
apply()
{
	if command -v patch >/dev/null; then
		patch -d "$tree" -s -p1 --fuzz=0 <"$patch"
	else
		file=$(readlink -f "$patch")
		(cd "$tree" && busybox patch -p1 -i "$file")
	fi
}

# The programs for the ring in $tree.
build()
{
	dir=$tree/kernel
	# shellcheck disable=SC2086,SC2153
	{
		$CC -O2 -w '-DRING_ACCESS_H="model_access.h"' -I"$dir" -I"$UAPI" -I. \
			-c ring_build.c -o "$tree/ring_build.o" &&
		$CXX "$tree/ring_build.o" $OBJECTS -o "$tree/model" &&
		$CC -O2 -w '-DRING_ACCESS_H="hook_access.h"' -I"$dir" -I"$UAPI" -I"$RING" \
			-c "$dir/ring.c" -o "$tree/hooked.o" &&
		$CC "$tree/hooked.o" $UNITS -o "$tree/units" &&
		$CC -O2 -w -I"$dir" -I"$UAPI" -c "$dir/ring.c" -o "$tree/threaded.o" &&
		$CC "$tree/threaded.o" $THREADS -o "$tree/threads" -pthread
	} >"$tree/log" 2>&1
}

# Sets `model` to the scenario that fails, if one does, and `why`.
try_model()	# FLAGS...
{
	model=
	why=
	"$tree/model" "$@" -f >"$tree/model.out" 2>&1 && return
	model=$(sed -n 's/^not ok [0-9]* - model\.//p' "$tree/model.out" | head -n 1)
	why=$(sed -n 's/^#   \([^ ].*\)/\1/p' "$tree/model.out" | grep -v 'ring\.c:' | tail -n 1)
	[ -n "$why" ] || why=$(sed -n 's/^# \([^:]*: .*\)/\1/p' "$tree/model.out" | tail -n 1)
}

# The slowest two show nothing here that the others do not.
try_units()
{
	# shellcheck disable=SC2046
	units=$("$tree/units" -t 20 $("$tree/units" -l | grep -v '^nested.pairs-') 2>&1 |
		sed -n 's/^not ok [0-9]* - //p' | head -n 3 | tr '\n' ' ')
	if [ -z "$units" ] && { [ "$kind" = memory-order ] || [ "$kind" = none ]; }; then
		units=$("$tree/threads" -t 20 2>&1 | sed -n 's/^not ok [0-9]* - //p' | tr '\n' ' ')
	fi
	units=${units% }
}

mutant()
{
	patch=$1
	name=$(basename "$patch" .patch)
	kind=$(sed -n 's/^# Kind: //p' "$patch" 2>/dev/null)
	kind=${kind:-none}
	tree=$OUT/$name
	rm -rf "$tree"
	mkdir -p "$tree/kernel"
	cp "$SRC"/ring*.[ch] "$SRC"/packet.[ch] "$tree/kernel"
	if [ "$patch" != none ]; then
		echo "# $name: $(sed -n '2s/^# //p' "$patch")"
		if ! apply >"$tree/log" 2>&1; then
			sed 's/^/# /' "$tree/log" | head -n 5
			result "not ok" "$name # the patch does not apply"
			return
		fi
	fi
	if ! build; then
		sed 's/^/# /' "$tree/log" | head -n 5
		result "not ok" "$name # does not build"
		return
	fi

	units=
	try_model -q -t 120
	if [ "$mode" = all ] || [ -z "$model" ]; then
		try_units
	fi
	[ "$patch" = none ] || [ -n "$model$units" ] || try_model -t 900
	if [ "$patch" = none ]; then
		if [ -n "$model$units" ]; then
			echo "# the ring as it is: $model ${why:+($why)} $units"
			result "not ok" "none # caught without a mutation"
		else
			result ok none
		fi
	elif [ -z "$model$units" ]; then
		result "not ok" "$name # survives"
	else
		by=${model:+the model ($model: $why)}
		by="$by${model:+${units:+, }}${units:+the unit tests ($units)}"
		echo "# $name: caught by $by"
		result ok "$name"
		[ "$kind" = memory-order ] && [ -z "$units" ] && only_model=$((only_model + 1))
		[ "$kind" = clock ] && clock=$((clock + 1))
	fi
	rm -f "$tree"/*.o
}

# shellcheck disable=SC2086
set -- "$#" $patches
named=$1
shift
plan=$#
[ "$named" -gt 0 ] || plan=$((plan + 3))
echo "KTAP version 1"
echo "1..$plan"
for patch; do
	mutant "$patch"
done
if [ "$named" -eq 0 ]; then
	count=$(($# - 1))
	echo "# $count mutants; $only_model of memory order, caught by the model$alone;" \
		"$clock of the clock"
	result "$([ "$count" -ge 20 ] && echo ok || echo not ok)" enough
	result "$([ "$only_model" -ge 5 ] && echo ok || echo not ok)" memory-order
	result "$([ "$clock" -ge 2 ] && echo ok || echo not ok)" clock
fi
echo "# $((number - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
