#!/bin/sh
# Checks the alerts of config/monitoring with promtool, and runs their unit tests. make test-monitoring runs them in the
# engine of Prometheus.
set -eu

# The spec of the PrometheusRule, which comes last in its file, is a file of rules.
mkdir -p bin/rules
sed -n '/^spec:$/,$ { /^spec:$/!s/^  //p; }' config/monitoring/prometheus_rule.yaml >bin/rules/rules.yaml
cp config/monitoring/rules*_test.yaml bin/rules/
bin/promtool check rules --lint=all --lint-fatal bin/rules/rules.yaml
bin/promtool test rules bin/rules/rules*_test.yaml
