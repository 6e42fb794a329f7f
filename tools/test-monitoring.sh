#!/bin/sh
# Tests the alerts and the dashboards of config/monitoring with the engine of Prometheus: the dashboards with metrics of a
# real run of operator and sandbox, and the alerts with those of operators before and after faults. The tests are a Go
# module of their own, so that no other depends on Prometheus.
#
#   tools/test-monitoring.sh             run the tests
#   tools/test-monitoring.sh PICTURE     draw the dashboard, too
set -eu

root=$PWD
recording=$root/bin/recording.prom
faults=$root/bin/faults
rm -rf "$faults"
mkdir -p "$faults"
"${GO:-go}" test -count=1 -timeout="${TIMEOUT:-1h}" -run='^TestRecording$|^TestFaults$' ./operator \
	-recording="$recording" -faults="$faults"
cd internal/test/monitoring
"${GO:-go}" vet ./...
"$root/bin/golangci-lint" run
"${GO:-go}" test -count=1 -timeout="${TIMEOUT:-1h}" ./... -recording="$recording" -faults="$faults" ${1:+-picture="$root/$1"}
