#!/bin/sh
# Lints and runs the browser test of the sandbox's page, with the race detector. The test is a Go module of its own.
# Without a browser go test skips it, and this script says so.
set -eu

root=$PWD
cd internal/sandbox/browsertest

"${GO:-go}" vet ./...
"$root/bin/golangci-lint" run
"${GO:-go}" test -race -count=1 -timeout="${TIMEOUT:-1h}" ./...

# The same names as in browser_test.go.
for browser in chromium chromium-browser google-chrome google-chrome-stable chrome; do
	if command -v "$browser" >/dev/null; then
		exit 0
	fi
done
echo "SKIPPED: the browser test of the sandbox's page did not run, because there is no browser." \
	"Install Chromium (Debian: apt-get install chromium)."
