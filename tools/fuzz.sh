#!/bin/sh
# Runs every fuzz target of the given packages, each for FUZZTIME; stops at the first that finds something.
set -eu

output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Before Go 1.27, the fuzzer may report the end of its time as an error: https://go.dev/issue/75804.
# It reports a real finding as a file in testdata, or as a panic.
only_time_was_up() {
	grep -q '^ *context deadline exceeded$' "$output" &&
		! grep -q 'Failing input written\|panic:\|^ *fuzz.*_test.go' "$output"
}

for package in "$@"; do
	listed=$("${GO:-go}" test -list='^Fuzz' "$package")
	for target in $(echo "$listed" | grep '^Fuzz'); do
		echo "== $package $target, $FUZZTIME"
		# Minimizing each input, by default for a minute, would take most of the time.
		"${GO:-go}" test -run='^$' -fuzz="^$target\$" -fuzztime="$FUZZTIME" -fuzzminimizetime=1s "$package" 2>&1 |
			tee "$output"
		if ! grep -q '^ok ' "$output" && ! only_time_was_up; then
			exit 1
		fi
	done
done
