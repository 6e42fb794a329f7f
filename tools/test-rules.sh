#!/bin/sh
# Checks the alerts of config/monitoring with promtool, and runs their unit tests. The first build of promtool takes
# four minutes of the processor, so make test leaves it to the engine of Prometheus alone: see tools/test-monitoring.sh.
set -eu

module=github.com/prometheus/prometheus
version=$(sed -n "s|^[[:space:]]*$module \(v[^ ]*\).*|\1|p" tools/prometheus/go.mod)
promtool=bin/promtool-$version
# promtool checks configurations of service discovery, which needs the clients of every cloud. These tests do not.
[ -x "$promtool" ] || GOFLAGS="${GOFLAGS:-} -tags=remove_all_sd" tools/build.sh "promtool $version" "$promtool" \
	tools/prometheus "$module/cmd/promtool" -trimpath -ldflags="-s -w"

# The spec of the PrometheusRule, which comes last in its file, is a file of rules.
mkdir -p bin/rules
sed -n '/^spec:$/,$ { /^spec:$/!s/^  //p; }' config/monitoring/prometheus_rule.yaml >bin/rules/rules.yaml
cp config/monitoring/rules_test.yaml bin/rules/
"$promtool" check rules --lint=all --lint-fatal bin/rules/rules.yaml
"$promtool" test rules bin/rules/rules_test.yaml
