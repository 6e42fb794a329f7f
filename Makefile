# Needs Go, make, a C compiler (for the race detector) and a POSIX system. `make` alone lists the targets.

GO ?= go
MODULE := github.com/mandate-io/idv
# Stamping needs git and a clone that it trusts; a go.work above this tree would override the pins in tools/; a -short
# of the environment would make tests pass that did not run.
export GOFLAGS := $(strip $(filter-out -short% --short% -buildvcs=false,$(shell $(GO) env GOFLAGS)) -buildvcs=false)
export GOWORK := off

# What --version prints: the tag, if the clone has one, and the commit.
VERSION ?= $(or $(shell git describe --tags --match='v*' --dirty 2>/dev/null),dev)
COMMIT ?= $(or $(shell git rev-parse HEAD 2>/dev/null),unknown)
STAMP = $(foreach variable,version=$(VERSION) commit=$(COMMIT),-X $(MODULE)/internal/version.$(variable))

.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:

include tools/tools.mk

COMMANDS := bin/terraform-provider-idv bin/mandate-operator bin/idv-sandbox bin/kubectl-mandate
KUBECTL := $(or $(call on_path,kubectl),bin/kubectl)

##@ The main job

.PHONY: demo
demo: $(call tools_of,demo) $(COMMANDS) bin/demo ## Run everything on this machine (KEEP=1: until Ctrl-C)
	@exec env PATH="$$PATH:$(KUBEBUILDER_ASSETS):$(CURDIR)/bin" KUBEBUILDER_ASSETS="$(KUBEBUILDER_ASSETS)" KEEP="$(KEEP)" \
		bin/demo

##@ Development

.PHONY: build
build: $(COMMANDS) ## Build the provider, the operator, the sandbox and the kubectl plugin into bin/

.PHONY: $(COMMANDS) bin/demo
$(COMMANDS):
	@tools/build.sh $(@F) $@ . ./cmd/$(@F) -ldflags="$(STAMP)"

bin/demo:
	@tools/build.sh $(@F) $@ . ./internal/test/$(@F)

.PHONY: update
update: $(call tools_of,update) ## Write all that is made of other files: code, manifests, tables of pages, golden files
	@env $(UNSET) KUBEBUILDER_ASSETS="$(KUBEBUILDER_ASSETS)" tools/update.sh

.PHONY: lint
lint: $(call tools_of,lint) ## gofmt, golangci-lint, and go vet of the browser test's module
	@unformatted=$$("$$($(GO) env GOROOT)/bin/gofmt" -l .); \
		[ -z "$$unformatted" ] || { echo "gofmt -w these files:" $$unformatted; exit 1; }
	bin/golangci-lint run
	for module in image sbom; do (cd tools/$$module && $(CURDIR)/bin/golangci-lint run) || exit; done
	$(GO) -C internal/sandbox/browsertest vet ./...

# The database is that of https://vuln.go.dev, or with VULNDB a directory that indexdb of golang.org/x/vulndb has written.
.PHONY: vulnerabilities
vulnerabilities: $(call tools_of,vulnerabilities) ## Look for known vulnerabilities in what the programs call (VULNDB=file:///DIR)
	bin/govulncheck $(VULNDB:%=-db %) ./cmd/...

.PHONY: tools
tools: $(call tools_of,tools) ## Build the tools into bin/, but those that only e2e, test-gitops and test-rules need

.PHONY: clean
clean: ## Remove what `make build` made; the tools stay, because they take minutes
	rm -f $(COMMANDS) bin/demo bin/e2e

##@ Tests

# A cluster or a service of the developer's environment must not reach the tests.
UNSET := $(addprefix -u ,KUBECONFIG USE_EXISTING_CLUSTER $(filter-out IDV_TOFU,$(filter IDV_% TF_%,$(.VARIABLES))))
KUBEBUILDER_ASSETS ?= $(CURDIR)/bin
# -w: linking takes less by a quarter without DWARF, which nothing here reads. Stacks and profiles do not need it.
# -vet=off: lint vets. TIMEOUT is the one limit against a hang, of every package and of every run of make e2e: it has to
# be enough beside other work.
TIMEOUT ?= 75m
GO_TEST = env $(UNSET) KUBEBUILDER_ASSETS="$(KUBEBUILDER_ASSETS)" $(GO) test -ldflags=-w -vet=off -timeout=$(TIMEOUT)

# All but operator/chaos, which runs alone, because it keeps the machine busy, and the tests with a real Flux and Argo
# CD, which take minutes to build. Those that take longest start first.
longest := $(MODULE)/operator $(MODULE)/provider
apart := %/operator/chaos %/internal/test/gitops/flux %/internal/test/gitops/argocd
packages = $(longest) $(or $(filter-out $(longest) $(apart),$(shell $(GO) list ./...)),\
	$(error go list finds no packages))
# go test does not see which files kubectl and the API server read, so it must not cache the results of these packages.
uncached = $(filter-out $(apart),$(shell $(GO) list $(call containing,testenv\.Main)))

# $(call containing,TEXT): the directories of tests that have it.
containing = $(sort $(dir $(shell find . -name tools -prune -o -name '*_test.go' -exec grep -l '$(1)' {} +)))

# gotestsum prints the result of each package as it ends, then what failed and how many tests ran.
SUMMARY := --format=standard-quiet --raw-command --

.PHONY: check
check: $(call tools_of,check) ## The inner loop: generated files, lint, and the tests that start no operator and no CLI
	@MAKE="$(MAKE)" tools/steps.sh "make check" verify-generated lint test-short
	@echo "Not run: what starts operators, OpenTofu or the demo. make test does."

.PHONY: test
test: $(call tools_of,test) ## All tests of this Go module; docs/testing.md has what CI runs beside it
	@MAKE="$(MAKE)" tools/steps.sh "make test" verify-generated lint test-packages-and-others single-faults slowest

# test-packages waits much, so what needs the processor runs beside it, at low priority. single-faults runs alone: it
# covers a third less while guards are built beside it.
.PHONY: test-packages-and-others
test-packages-and-others:
	@$(MAKE) --no-print-directory -j4 test-packages beside-explore beside-others

beside-explore.steps := explore guards-and-controls
beside-others.steps := test-race contract coverage

# The output of each comes when it has ended, so that they do not mix.
.PHONY: beside-explore beside-others
beside-explore beside-others:
	@status=0; mkdir -p bin; MAKE="$(MAKE)" nice -n 10 tools/steps.sh "$@" $($@.steps) \
		>bin/$@.log 2>&1 || status=$$?; cat bin/$@.log; exit $$status

.PHONY: verify-generated
verify-generated:
	@tools/generate.sh --check

.PHONY: test-short
test-short:
	@bin/gotestsum --hide-summary=skipped $(SUMMARY) $(GO_TEST) -json -short $(filter-out $(uncached),$(packages))
	@bin/gotestsum --hide-summary=skipped $(SUMMARY) $(GO_TEST) -json -short -count=1 $(uncached)

# make test has a sixth of the controls, and each night all.
.PHONY: guards-and-controls
guards-and-controls: guards controls-of-commit

# Not what explore and contract run.
decisions := ^TestExplore$$|^TestDecideNeverCreatesTwice$$|^TestDecideSubscribesLast$$
contract := ^TestContract$$|^TestContractCombined$$|^TestOutcomeOfEveryAnswer$$
others := -skip='$(decisions)|$(contract)'

# The race detector finds what goroutines do to each other, so it runs where the code, not its tests, has any, and in
# the operator of single-faults, which meets every effect and every fault. It triples the processor time of tests that
# start processes, so these have it each night: make race.
goroutines := ^[[:space:]]*go |\.Go\(|chan |"sync
raced = $(filter $(patsubst ./%/,$(MODULE)/%,$(sort $(dir $(shell find . -name tools -prune -o -name test -prune -o \
	-name '*.go' ! -name '*_test.go' -exec grep -lE '$(goroutines)' {} +)))),$(packages))
in_process = $(filter-out $(uncached) $(patsubst ./%/,$(MODULE)/%,$(call containing,terraform-plugin-testing)),$(raced))
race_test = GOGC=200 bin/gotestsum $(SUMMARY) $(GO_TEST) -json -race -count=1 -shuffle=on $(others)
.PHONY: test-race
test-race:
	@$(race_test) $(in_process)

.PHONY: race
race: $(call tools_of,test) ## All tests of packages that have goroutines, with the race detector, which takes an hour
	@$(race_test) $(raced)

# The other packages. Tests wait for processes most of the time, so more of them run at once than there are processors.
# go test remembers the results of packages that start no process: it would not see what one reads.
PARALLEL ?= 6
starting = $(filter-out $(in_process),$(filter $(uncached) $(patsubst ./%/,$(MODULE)/%, \
	$(call containing,exec\.Command)),$(packages)))
.PHONY: test-packages
test-packages:
	@$(GO) build -buildvcs=false -ldflags=-w -o bin/programs/ ./cmd/...
	@rm -f bin/tests.json
	@GOGC=200 IDV_PROGRAMS="$(CURDIR)/bin/programs" bin/gotestsum --jsonfile-timing-events=bin/tests.json $(SUMMARY) \
		$(GO_TEST) -json -count=1 -shuffle=on -parallel=$(PARALLEL) $(others) $(starting)
	@bin/gotestsum $(SUMMARY) $(GO_TEST) -json $(others) $(filter-out $(starting) $(in_process),$(packages))

.PHONY: contract
contract: ## The client with every reading of the service, and every answer
	@$(GO_TEST) -count=1 -run='$(contract)' ./internal/client

# The contract with the sandbox takes nine tenths of the time, and covers nothing that the other tests do not.
.PHONY: coverage
coverage:
	@$(GO_TEST) -count=1 -skip='^TestContract|^TestOutcomeOfEveryAnswer$$' -coverprofile=bin/coverage.out ./internal/client
	@$(GO) tool cover -func=bin/coverage.out | awk '/^total:/ { print "coverage of internal/client: " $$3; \
		if ($$3 + 0 < 90) { print "it must be 90% at least"; exit 1 } }'

# What is known of a scenario is large, and lives as long as the scenario.
exploring := GOGC=300 GOMEMLIMIT=3GiB

.PHONY: explore
explore: ## Every order of what two operators, faults and people can do, in memory (STATES=n of each scenario)
	@$(exploring) $(GO_TEST) -count=1 -v -run='$(decisions)' ./operator/mandate ./operator/action -states=$(STATES)

.PHONY: guards
guards: ## The same without each guard of what is done once
	@$(exploring) nice -n 5 $(GO_TEST) -count=1 -v -run='^TestGuardsAreNeeded$$' \
		./operator/mandate ./operator/action -guards -states=$(STATES)

.PHONY: controls
controls: ## The tests without each control of the threat model
	@$(without_controls)
without_controls = $(GO_TEST) -count=1 -v -run='^TestControlsAreNeeded$$' -parallel=4 ./internal/test/threats -guards

# A sixth of them, another one for each commit.
.PHONY: controls-of-commit
controls-of-commit:
	@$(without_controls) -parts=6 -part=$$((0x$(shell git rev-parse --short=6 HEAD 2>/dev/null || echo 0)))

# Every effect of the operator meets every fault, as far as four minutes go.
.PHONY: single-faults
single-faults:
	@$(GO_TEST) -race -count=1 -v -parallel=8 ./operator/chaos

.PHONY: slowest
slowest:
	@sed -n '/"Test"/d; s|.*"Package":"$(MODULE)/\([^"]*\)".*"Elapsed":\([0-9.]*\).*|\2 s \1|p' bin/tests.json | \
		sort -rn | head -n 6
	@bin/gotestsum tool slowest --num=12 --jsonfile=bin/tests.json

CHAOSTIME ?= 10m

.PHONY: chaos
chaos: $(call tools_of,chaos) ## Inject faults into the operator for CHAOSTIME, 10m (SEED=n; PLAN=... or BATCH=n runs only that)
	CHAOS_TIME="$(CHAOSTIME)" CHAOS_SEED="$(SEED)" CHAOS_PLAN="$(PLAN)" CHAOS_BATCH="$(BATCH)" GOGC=400 \
		$(GO_TEST) -race -count=1 -v -timeout=0 ./operator/chaos

.PHONY: answers
answers: $(call tools_of,chaos) ## Answer what e-mails or lasts with every status and body, before the operator (make test: every 32nd)
	$(GO_TEST) -count=1 -v -timeout=0 -run='^TestAnswers$$' ./operator -answers=1

.PHONY: plans
plans: $(call tools_of,chaos) ## Compare 500 plans of random changes with what then happens (make test: eight)
	PLANPAIRS=500 $(GO_TEST) -count=1 -v -timeout=0 -run='^TestPlanAgrees$$' ./plugin

.PHONY: moves
moves: $(call tools_of,chaos) ## Move 2,800 Mandates in all states to other clusters (make test: 14)
	MOVECOPIES=200 $(GO_TEST) -count=1 -v -timeout=0 -run='^TestMove$$' ./plugin

# The newest patch of each minor that the charts accept, beside the pinned one. What needs a kube-controller-manager is
# skipped, because it must not be newer than the API server.
MINORS ?= 1.32.13 1.33.13 1.34.4 1.35.4
on_minor.config := Policy|Record|Roles|Receiver|Reports|^TestOperatorChanges|^TestStolenToken$$|^TestChartsOnACluster$$

.PHONY: minors $(MINORS:%=minor-%)
minors: ## CRDs, rules, policies, chart and one create on other minors of Kubernetes (MINORS="1.32.13 ...")
	@MAKE="$(MAKE)" tools/steps.sh "make minors" $(MINORS:%=minor-%)

$(MINORS:%=minor-%): KUBEBUILDER_ASSETS = $(CURDIR)/$(<D)
$(MINORS:%=minor-%): minor-%: bin/kubernetes-v%/kube-apiserver $(call tools_of,minors)
	@ln -sf ../etcd ../kubectl $(<D)
	@$< --version
	@$(GO_TEST) -count=1 ./api/v1alpha1
	@$(GO_TEST) -count=1 -run='$(on_minor.config)' -skip='^TestNamespaceIsDeletedWithItsRecords$$' ./config
	@$(GO_TEST) -count=1 -run='^TestCompleted$$' ./operator

SCHEMATIME ?= 10m

.PHONY: schemas
schemas: $(call tools_of,schemas) ## Draw objects from the CRDs for SCHEMATIME, 10m, and decode those that the API server takes (SEED=n)
	$(GO_TEST) -count=1 -v -timeout=0 -run='^TestSchemas$$' ./operator -draw-time=$(SCHEMATIME) -draw-seed=$(or $(SEED),0)

# $(call with,Fuzz): the packages that have such functions.
with = $(call containing,^func $(1)[A-Z])
FUZZTIME ?= 30s
# States of each scenario that make test explores. Every guard is noticed within them. Every night explores more.
STATES ?= 2500
BENCH ?= .

.PHONY: bench
bench: $(call tools_of,bench) ## Run the benchmarks (BENCH=regexp, QUICK=1; docs/benchmarks.md has the sizes)
	@QUICK="$(QUICK)" $(GO_TEST) -run='^$$' -bench='$(BENCH)' -benchmem -timeout=90m \
		$(if $(QUICK),./operator/benchmark ./operator/mandate,$(call with,Benchmark))

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME, 30s
	@[ -n "$(call with,Fuzz)" ] || echo "there is no fuzz target yet"
	@[ -z "$(call with,Fuzz)" ] || env $(UNSET) GO="$(GO)" FUZZTIME="$(FUZZTIME)" tools/fuzz.sh $(call with,Fuzz)

.PHONY: test-gitops
test-gitops: $(call tools_of,test-gitops) ## Apply examples/gitops with a real Flux and Argo CD, and count the e-mails
	@$(GO_TEST) -count=1 -v ./internal/test/gitops/flux ./internal/test/gitops/argocd

# What make test leaves to jobs of their own, because each is another Go module, or builds for other machines.
modules := test-page test-openapi test-monitoring test-image
.PHONY: test-modules
test-modules: ## The tests that are Go modules of their own: test-page, test-openapi, test-monitoring, test-image
	@MAKE="$(MAKE)" tools/steps.sh "make test-modules" $(modules)

# The browser test of the sandbox's page is a Go module of its own, so that no other module depends on chromedp.
.PHONY: test-page
test-page: $(call tools_of,lint) ## Lint and run the browser test of the sandbox's page
	@env $(UNSET) GO="$(GO)" TIMEOUT="$(TIMEOUT)" tools/test-page.sh

# The validator of OpenAPI documents is in a Go module of its own, too.
.PHONY: test-openapi
test-openapi: $(call tools_of,lint) ## Hold the sandbox's OpenAPI documents against what it answers
	@cd internal/sandbox/openapitest && $(GO) vet ./... && $(CURDIR)/bin/golangci-lint run && \
		env $(UNSET) $(GO) test -count=1 ./...

# The engine of Prometheus is in a Go module of its own, too.
.PHONY: test-monitoring
test-monitoring: $(call tools_of,test-monitoring) ## Test the alerts and the dashboard with metrics of a real run
	@env $(UNSET) KUBEBUILDER_ASSETS="$(KUBEBUILDER_ASSETS)" GO="$(GO)" TIMEOUT="$(TIMEOUT)" \
		tools/test-monitoring.sh

.PHONY: dashboard-picture
dashboard-picture: $(call tools_of,test-monitoring) ## Draw the dashboard for the docs, from a real run
	@env $(UNSET) KUBEBUILDER_ASSETS="$(KUBEBUILDER_ASSETS)" GO="$(GO)" TIMEOUT="$(TIMEOUT)" \
		tools/test-monitoring.sh docs/images/dashboard.svg

.PHONY: test-rules
test-rules: $(call tools_of,test-rules) ## Run the alerts' unit tests with promtool, which takes minutes to build
	@tools/test-rules.sh

##@ Release

.PHONY: test-image
test-image: image ## Unpack the images, run and push them, and build them again
	env $(UNSET) VERSION="$(VERSION)" COMMIT="$(COMMIT)" SOURCE_DATE_EPOCH="$(SOURCE_DATE_EPOCH)" \
		$(GO) -C tools/image test -count=1 -v -timeout=$(TIMEOUT) ./...

# Static, and the same from every machine: no C library, no path of this tree, no better processor than the platform's.
IMAGES := mandate-operator idv-sandbox kubectl-mandate
REGISTRY := ghcr.io/mandate-io
SOURCE_DATE_EPOCH ?= $(or $(shell git log -1 --format=%ct 2>/dev/null),0)
static := CGO_ENABLED=0 GOOS=linux GOAMD64=v1 GOARM64=v8.0 GOFLAGS="$(GOFLAGS) -trimpath"
image := SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(GO) -C tools/image run .

label.mandate-operator := Operator of Mandates at an identity verification service
label.idv-sandbox := Stand-in of an identity verification service, to try its operator and provider
label.kubectl-mandate := kubectl plugin of Mandates, to test a connection from the cluster

# make e2e wants its own architecture only, in a directory of its own.
ARCHITECTURES := amd64 arm64
IMAGES_DIR := dist/images

.PHONY: image
image: $(IMAGES:%=image-%) ## Build the images of the operator, the sandbox and the plugin into dist/images, for amd64 and arm64

.PHONY: $(IMAGES:%=image-%)
$(IMAGES:%=image-%): image-%:
	@for arch in $(ARCHITECTURES); do $(static) GOARCH=$$arch tools/build.sh "$* linux/$$arch" \
		$(IMAGES_DIR)/linux-$$arch/$* . ./cmd/$* -ldflags="-s -w $(STAMP)" || exit; done
	@$(image) pack -o "$(CURDIR)/$(IMAGES_DIR)/$*.tar" -name $(REGISTRY)/$*:$(VERSION) \
		-label org.opencontainers.image.title=$* \
		-label org.opencontainers.image.description="$(label.$*)" \
		-label org.opencontainers.image.source=https://$(MODULE) \
		-label org.opencontainers.image.licenses=Apache-2.0 \
		-label org.opencontainers.image.version=$(VERSION) \
		-label org.opencontainers.image.revision=$(COMMIT) \
		$(foreach arch,$(ARCHITECTURES),linux/$(arch)="$(CURDIR)/$(IMAGES_DIR)/linux-$(arch)/$*")
	@echo "$(IMAGES_DIR)/$*.tar: $(REGISTRY)/$*:$(VERSION)"

.PHONY: push
push: ## Push the images of the operator (IMG=registry/name:tag), the sandbox (SANDBOX_IMG=) and the plugin (PLUGIN_IMG=)
	$(if $(IMG)$(SANDBOX_IMG)$(PLUGIN_IMG),,$(error make push needs the name of an image: \
		IMG=registry/name:tag, SANDBOX_IMG= or PLUGIN_IMG=, or several))
	$(if $(IMG),@$(MAKE) --no-print-directory image-mandate-operator)
	$(if $(IMG),@$(image) push "$(CURDIR)/$(IMAGES_DIR)/mandate-operator.tar" $(IMG))
	$(if $(SANDBOX_IMG),@$(MAKE) --no-print-directory image-idv-sandbox)
	$(if $(SANDBOX_IMG),@$(image) push "$(CURDIR)/$(IMAGES_DIR)/idv-sandbox.tar" $(SANDBOX_IMG))
	$(if $(PLUGIN_IMG),@$(MAKE) --no-print-directory image-kubectl-mandate)
	$(if $(PLUGIN_IMG),@$(image) push "$(CURDIR)/$(IMAGES_DIR)/kubectl-mandate.tar" $(PLUGIN_IMG))

# The version is that of the tag of this commit. A build of another commit is 0.0.1, which no release is. Not 0.0.0,
# because Terraform takes that for none.
DIST_VERSION ?= $(patsubst v%,%,$(firstword $(shell git describe --tags --exact-match --match='v*' 2>/dev/null) 0.0.1))

.PHONY: dist
dist: $(call tools_of,dist) ## Package every program into dist/release, and the provider into dist/mirror
	DIST_VERSION=$(DIST_VERSION) DIST_COMMIT="$(COMMIT)" DIST_PLATFORMS=$(or $(DIST_PLATFORMS),all) \
		bin/goreleaser release --snapshot --clean --skip=sign
	@cp terraform-registry-manifest.json dist/release/terraform-provider-idv_$(DIST_VERSION)_manifest.json
	@rm -rf dist/mirror && for host in registry.terraform.io registry.opentofu.org; do \
		mkdir -p dist/mirror/$$host/mandate-io/idv && \
		ln dist/release/terraform-provider-idv_*.zip dist/mirror/$$host/mandate-io/idv/ || exit; done
	@echo "dist/mirror: a filesystem_mirror of the provider mandate-io/idv, version $(DIST_VERSION)"

# Only Linux, because the others would take minutes and have nothing to run on.
.PHONY: test-dist
test-dist: $(call tools_of,test-dist) ## Check the configuration of the release, package for Linux, and install the provider
	bin/goreleaser check --quiet
	bin/actionlint
	bin/actionlint examples/gitops/github/plan.yaml
	$(GO) -C tools/release vet ./...
	$(MAKE) dist DIST_PLATFORMS=linux
	env $(UNSET) TOFU="$(CURDIR)/bin/tofu" VERSION=$(DIST_VERSION) COMMIT="$(COMMIT)" \
		$(GO) -C tools/release test -count=1 -v .

##@ A cluster, the one that kubectl talks to

.PHONY: install
install: $(call tools_of,install) ## Install the CRDs
	$(KUBECTL) apply -k config/crd
	@tools/await-kinds.sh "$(KUBECTL)"

define deployed
resources: [../../config/default]
patches:
- target: {kind: Deployment}
  patch: |
    - op: replace
      path: /spec/template/spec/containers/0/image
      value: "$(IMG)"
endef
export deployed

.PHONY: deploy
deploy: $(call tools_of,deploy) ## Install the CRDs and run the operator (IMG=registry/name:tag, required)
	$(if $(IMG),,$(error make deploy needs the image of the operator: IMG=registry/name:tag))
	@mkdir -p bin/deploy && printf '%s\n' "$$deployed" >bin/deploy/kustomization.yaml
	$(KUBECTL) apply -k bin/deploy
	@tools/await-kinds.sh "$(KUBECTL)"

# Deleting a CRD or a namespace deletes its objects. Without the ApplicationRecords the next operator would not know
# which applications exist, and e-mail the same people again.
define undeployed
resources: [../../config/default]
patches:
- target: {kind: CustomResourceDefinition|Namespace}
  patch: '{$$patch: delete, kind: any, metadata: {name: any}}'
endef
export undeployed

.PHONY: undeploy
undeploy: $(call tools_of,undeploy) ## Remove the operator; the CRDs stay, and with them every Mandate and the ledger
	@mkdir -p bin/undeploy && printf '%s\n' "$$undeployed" >bin/undeploy/kustomization.yaml
	$(KUBECTL) delete --ignore-not-found -k bin/undeploy

##@ A Kubernetes node, on this machine

# The check comes first, because the tools of a node take minutes.
.PHONY: e2e
e2e: bin/e2e ## Run the operator on a node with a real kubelet: Linux, root (REQUIRED=1; STEPS=, COUNT=n: docs/e2e.md)
	@status=0; bin/e2e check || status=$$?; \
		if [ "$$status" = 3 ] && [ -z "$(REQUIRED)" ]; then exit 0; elif [ "$$status" != 0 ]; then exit "$$status"; fi; \
		$(MAKE) --no-print-directory e2e-tools e2e-images && \
		env $(UNSET) STEPS="$(STEPS)" COUNT="$(COUNT)" TIMEOUT="$(TIMEOUT)" bin/e2e

.PHONY: bin/e2e
bin/e2e:
	@tools/build.sh $(@F) $@ . ./internal/test/$(@F)

.PHONY: e2e-tools
e2e-tools: $(call tools_of,e2e-tools)
	@tools/debian.sh bin/debian runc nft

# The images of the product, and the one that holds the namespaces of a Pod.
.PHONY: e2e-images
e2e-images: architecture = $(shell $(GO) env GOARCH)
e2e-images:
	@$(MAKE) --no-print-directory image ARCHITECTURES=$(architecture) IMAGES_DIR=bin/e2e-images
	@$(static) tools/build.sh pause bin/e2e-images/linux-$(architecture)/pause . ./internal/test/e2e/pause -ldflags="-s -w"
	@$(image) pack -o "$(CURDIR)/bin/e2e-images/pause.tar" -name e2e.invalid/pause:1 \
		linux/$(architecture)="$(CURDIR)/bin/e2e-images/linux-$(architecture)/pause"

##@ Help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^##@ / {print "\n" substr($$0, 5)} \
		/^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' Makefile
