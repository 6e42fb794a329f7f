#!/bin/sh
# Makes targets one after another up to the first that fails, and says which were made, and how long and how much
# processor time each took.
#
#   MAKE=make tools/steps.sh TITLE TARGET...
set -u

title=$1
shift
started=$(date +%s) status=0 result=passed summary=
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

# measure sets used to what everything that this shell has run took so far. In a subshell, times would be of that.
measure() {
	times >"$scratch"
	used=$(awk 'NR == 2 { gsub(/s/, ""); split($0, t, /[m ]/); printf "%d", (t[1] + t[3]) * 60 + t[2] + t[4] }' \
		"$scratch")
}

for target in "$@"; do
	echo "== $target"
	target_started=$(date +%s)
	measure
	before=$used
	"$MAKE" --no-print-directory "$target" || status=$?
	measure
	summary=$summary$(printf '%6d s, processor %6d s  %s' $(($(date +%s) - target_started)) $((used - before)) "$target")'
'
	if [ "$status" -ne 0 ]; then
		result="failed at $target"
		break
	fi
done

echo "== $title: $result, $(($(date +%s) - started)) s"
printf %s "$summary"
exit "$status"
