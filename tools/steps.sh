#!/bin/sh
# Makes targets one after another up to the first that fails, and says which were made and how long each took.
#
#   MAKE=make tools/steps.sh TITLE TARGET...
set -u

title=$1
shift
started=$(date +%s) status=0 result=passed summary=

for target in "$@"; do
	echo "== $target"
	target_started=$(date +%s)
	"$MAKE" --no-print-directory "$target" || status=$?
	summary=$summary$(printf '%6d s  %s' $(($(date +%s) - target_started)) "$target")'
'
	if [ "$status" -ne 0 ]; then
		result="failed at $target"
		break
	fi
done

echo "== $title: $result, $(($(date +%s) - started)) s"
printf %s "$summary"
exit "$status"
