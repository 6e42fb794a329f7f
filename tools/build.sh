#!/bin/sh
# Builds one Go command and says how far it is, because the first build of a tool takes minutes.
#
#   tools/build.sh LABEL OUTPUT DIRECTORY PACKAGE [BUILD FLAG...]
#
# LABEL names the command in messages; DIRECTORY holds the go.mod that pins it. The output appears
# complete or not at all. A failed build shows what the compiler said.
set -eu

label=$1 output=$PWD/$2 directory=$3 package=$4
shift 4

interval=10 # seconds between two lines of progress
work=$(mktemp -d)
part=$output.part.$$
child=
started=$(date +%s)

finish() {
	[ -z "$child" ] || kill "$child" 2>/dev/null || :
	rm -rf "$work" "$part"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

elapsed() {
	echo $(($(date +%s) - started))
}

# run COMMAND... runs it in the background, with its output in files, and calls report meanwhile.
run() {
	"$@" >"$work/stdout" 2>"$work/stderr" &
	child=$!
	next=$interval
	while kill -0 "$child" 2>/dev/null; do
		sleep 0.2
		if [ "$(elapsed)" -ge "$next" ]; then
			report
			next=$(($(elapsed) + interval))
		fi
	done
	status=0
	wait "$child" || status=$?
	child=
	if [ "$status" -ne 0 ]; then
		echo "$label: failed after $(elapsed) s; go said:" >&2
		# go build -v prints package paths among the errors; only the errors hold a space.
		sed -n '/[[:space:]]/p' "$work/stderr" >&2
		exit "$status"
	fi
}

# The list says how much is left: with a warm build cache it is little.
report() {
	echo "$label: $(grep -c downloading "$work/stderr" || :) modules downloaded, $(elapsed) s"
}
run go -C "$directory" list "$@" -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$package"
total=$(grep -c . "$work/stdout" || :)
echo "$label: compiling, packages: $total"

compiling=$(elapsed)
report() {
	built=$(grep -vc '[[:space:]]' "$work/stderr" || :) left=
	if [ "$built" -gt 0 ]; then
		left=", about $((($(elapsed) - compiling) * (total - built) / built)) s left"
	fi
	echo "$label: $built of $total packages, $(elapsed) s$left"
}
mkdir -p "$(dirname "$output")"
run nice go -C "$directory" build "$@" -v -o "$part" "$package"
mv "$part" "$output"
echo "$label: done, $(elapsed) s"
