#!/bin/sh
# Writes everything in the tree that is generated, or with --check says what is not up to date.
#
# It generates into a scratch directory first. So a check never touches the tree and needs no git,
# and what no longer has a source disappears.
set -eu
cd "$(dirname "$0")/.."

mode=write
[ "${1:-}" != --check ] || mode=check

bin=$PWD/bin
out=bin/.generated.$$ # in the tree, as tfplugindocs wants a relative directory; hidden from ./...
trap 'rm -rf "$out"' EXIT
trap 'exit 130' INT TERM HUP
mkdir -p "$out"

# What the generators own. The directories of docs/ are those that tfplugindocs clears when it renders.
owned='config/crd/bases config/rbac/role.yaml docs/index.md docs/actions docs/data-sources
docs/ephemeral-resources docs/functions docs/guides docs/list-resources docs/resources docs/state-stores'

manifests() {
	for version in api/*/; do
		version=${version%/}
		mkdir -p "$out/$version"
		"$bin/controller-gen" object "paths=./$version" "output:object:dir=$out/$version"
		owned="$owned $version/zz_generated.deepcopy.go"
	done
	"$bin/controller-gen" crd paths=./api/... "output:crd:dir=$out/config/crd/bases"
	"$bin/controller-gen" rbac:roleName=mandate-operator paths=./operator/... "output:rbac:dir=$out/config/rbac"
}

# The schema comes from the pinned tofu, because another tool on PATH prints other kinds of objects. providerschema adds
# the actions. Without a schema, tfplugindocs would download terraform. It looks for its provider under "hashicorp".
reference() {
	scratch=$PWD/$out/terraform
	mkdir -p "$scratch"
	go build -o "$scratch/terraform-provider-idv" ./cmd/terraform-provider-idv
	source=registry.terraform.io/hashicorp/idv
	cat >"$scratch/cli.tfrc" <<-EOF
		provider_installation {
		  dev_overrides { "$source" = "$scratch" }
		}
	EOF
	cat >"$scratch/main.tf" <<-EOF
		terraform {
		  required_providers {
		    idv = { source = "$source" }
		  }
		}
	EOF
	TF_CLI_CONFIG_FILE=$scratch/cli.tfrc CHECKPOINT_DISABLE=1 \
		"$bin/tofu" "-chdir=$scratch" providers schema -json >"$scratch/printed.json"
	go run ./internal/test/providerschema <"$scratch/printed.json" >"$scratch/schema.json"
	"$bin/tfplugindocs" generate --provider-name idv --providers-schema "$scratch/schema.json" \
		--examples-dir examples/terraform --website-source-dir docs/templates \
		--rendered-website-dir "$out/docs" >"$scratch/log" 2>&1 || {
		cat "$scratch/log" >&2
		exit 1
	}
}

# What the charts share with the other manifests. A chart cannot read files outside its directory.
charts() {
	chart=config/chart/mandate-operator crds=config/chart/mandate-operator-crds/templates/crds
	mkdir -p "$out/$chart/files/rbac" "$out/$chart/files/reports" "$out/$chart/files/admission" \
		"$out/$chart/files/policy/require-secrets" "$out/$chart/files/monitoring" "$out/$crds"
	cp "$out/config/rbac/role.yaml" config/rbac/*_role.yaml "$out/$chart/files/rbac"
	cp config/reports/policy.yaml config/reports/role.yaml "$out/$chart/files/reports"
	cp config/monitoring/service_monitor.yaml config/monitoring/prometheus_rule.yaml config/monitoring/dashboard*.json \
		"$out/$chart/files/monitoring"
	cp config/admission/*.yaml "$out/$chart/files/admission"
	cp config/policy/*.yaml "$out/$chart/files/policy"
	cp config/policy/require-secrets/require_secrets.yaml "$out/$chart/files/policy/require-secrets"
	rm "$out/$chart"/files/*/kustomization.yaml
	for crd in "$out"/config/crd/bases/*.yaml; do
		crd_template <"$crd" >"$out/$crds/${crd##*_}"
	done
	go run ./internal/test/chartdocs "$chart" "$out/$chart"
	owned="$owned $chart/files $chart/README.md $chart/values.schema.json $crds"
}

# The first annotations are those of the CRD. By them Helm, Argo CD and Flux keep it when they prune or uninstall.
crd_template() {
	sed 's/{{/{{ "{{" }}/g' | awk '/^  annotations:$/ && !done {
		print "  labels:"
		print "    app.kubernetes.io/managed-by: {{ .Release.Service }}"
		print "    app.kubernetes.io/part-of: mandate-operator"
		print "    app.kubernetes.io/version: {{ .Chart.AppVersion | replace \"+\" \"_\" | quote }}"
		print "    helm.sh/chart: {{ printf \"%s-%s\" .Chart.Name .Chart.Version | replace \"+\" \"_\" }}"
		print
		print "    helm.sh/resource-policy: keep"
		print "    argocd.argoproj.io/sync-options: Prune=false,Delete=false"
		print "    kustomize.toolkit.fluxcd.io/prune: disabled"
		done = 1
		next
	}
	{ print }'
}

manifests
reference
charts

stale=
for path in $owned; do
	new=$out/$path
	[ -e "$new" ] || [ -e "$path" ] || continue
	if [ "$mode" = check ]; then
		diff -ruN "$path" "$new" || stale="$stale $path"
	else
		rm -rf "$path"
		[ ! -e "$new" ] || { mkdir -p "$(dirname "$path")" && cp -R "$new" "$path"; }
	fi
done

if [ -n "$stale" ]; then
	echo "generated files are not up to date:$stale; run: make update" >&2
	exit 1
fi
