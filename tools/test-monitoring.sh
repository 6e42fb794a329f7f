#!/bin/sh
# Tests the alerts and the dashboard of config/monitoring with the engine of Prometheus: the dashboard with metrics of a
# real run of operator and sandbox. The tests are a Go module of their own, so that no other depends on Prometheus.
#
#   tools/test-monitoring.sh             run the tests
#   tools/test-monitoring.sh PICTURE     draw the dashboard, too
set -eu

root=$PWD
recording=$root/bin/recording.prom
mkdir -p bin
"${GO:-go}" test -count=1 -timeout="${TIMEOUT:-1h}" -run='^TestRecording$' ./operator -recording="$recording"
cd internal/test/monitoring
"${GO:-go}" vet ./...
"$root/bin/golangci-lint" run
"${GO:-go}" test -count=1 -timeout="${TIMEOUT:-1h}" ./... -recording="$recording" ${1:+-picture="$root/$1"}
