#!/bin/sh
# Writes everything in the tree that is made of other files: generated code and manifests, tables and sections of pages,
# and the golden files of tests. What it writes is a change to look at, as any other one.
#
# The order matters. docs/fields.md is made of the CRDs, and the provider's reference of the guides.
set -eu
cd "$(dirname "$0")/.."

tools/generate.sh

# Package and tests: each test compares a file of the tree with what the code says, and writes it with -update.
while read -r package tests; do
	go test -count=1 -vet=off "./$package" -run "^($tests)\$" -update
done <<-EOF
	api/v1alpha1 TestFieldsPage
	internal/client TestGuide
	internal/sandbox TestManual
	internal/test/architecture TestTablesOfWords
	operator/mandate TestHealth
	operator/service TestHealth
	operator/action TestHealth
	plugin TestStatusOfEveryReason|TestTablePutsThoseThatNeedAPersonFirst
	plugin/readings TestWhatShowsWhat
	provider TestAnswersGuide|TestLifecycle|TestVersions
EOF

tools/generate.sh
