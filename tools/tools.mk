# The tools that the Makefile builds from pinned Go modules into bin/, as NAME-VERSION with a link NAME.
# A version is written in one place, the go.mod of the tool's family; a file of that version is never built again.

pinned = $(shell sed -n 's|^[[:space:]]$(2) \(v[^ ]*\).*|\1|p' tools/$(1)/go.mod)
on_path = $(shell command -v $(1) 2>/dev/null)

# $(call tool,NAME,FAMILY,MODULE,MAIN PACKAGE BELOW THE MODULE,LDFLAGS,BUILD FLAGS), on one line: a continued line adds
# a space. The package "." is that of the family, with the version of the module.
define tool
$(1).version := $$(or $$(call pinned,$(2),$(3)),$$(error tools/$(2)/go.mod pins no $(3)))
$(1).file := bin/$(1)-$$($(1).version)
all_tools += $(1)

$$($(1).file):
	@tools/build.sh "$(1) $$($(1).version)$$(call position,$$@)" $$@ tools/$(2) $(if $(filter .,$(4)),.,$(3)$(4)) -trimpath -ldflags="-s -w $(5)"$(6:%= %)

# A link that is newer than its file may still point at another version, so it is looked at every time.
.PHONY: bin/$(1)
bin/$(1): $$($(1).file)
	@[ "$$$$(readlink $$@)" = $$(<F) ] || ln -sfn $$(<F) $$@
endef

# Without a version, kube-apiserver and kubectl call themselves v0.0.0 and clients misjudge them; helm
# calls itself v4.N; without version.dev=no, tofu is a development build that says so in every output.
kubernetes := $(call pinned,kubernetes,k8s.io/kubernetes)
version_of_kubernetes = $(addprefix -X k8s.io/component-base/version.,\
	gitVersion=$(1) \
	gitMajor=$(patsubst v%,%,$(firstword $(subst ., ,$(1)))) \
	gitMinor=$(word 2,$(subst ., ,$(1))) \
	gitTreeState=clean) -X k8s.io/client-go/pkg/version.gitVersion=$(1)
kubernetes.ldflags := $(call version_of_kubernetes,$(kubernetes))
opentofu.ldflags := -X github.com/opentofu/opentofu/version.dev=no
argocd := github.com/argoproj/argo-cd/v3
argocd.ldflags := -X $(argocd)/common.version=$(patsubst v%,%,$(call pinned,argocd,$(argocd)))
helm.ldflags := -X helm.sh/helm/v4/internal/version.version=$(call pinned,helm,helm.sh/helm/v4)

# Of the snapshotters, only overlayfs is used.
containerd := github.com/containerd/containerd/v2
containerd.flags := -tags=no_btrfs,no_zfs,no_devmapper,no_blockfile,no_tracing
containerd.ldflags := -X $(containerd)/version.Version=$(call pinned,containerd,$(containerd))

$(eval $(call tool,kube-apiserver,kubernetes,k8s.io/kubernetes,/cmd/kube-apiserver,$(kubernetes.ldflags)))
$(eval $(call tool,kube-controller-manager,kubernetes,k8s.io/kubernetes,/cmd/kube-controller-manager,$(kubernetes.ldflags)))
$(eval $(call tool,kube-scheduler,kubernetes,k8s.io/kubernetes,/cmd/kube-scheduler,$(kubernetes.ldflags)))
$(eval $(call tool,kubelet,kubernetes,k8s.io/kubernetes,/cmd/kubelet,$(kubernetes.ldflags)))
$(eval $(call tool,kube-proxy,kubernetes,k8s.io/kubernetes,/cmd/kube-proxy,$(kubernetes.ldflags)))
$(eval $(call tool,kubectl,kubernetes,k8s.io/kubernetes,/cmd/kubectl,$(kubernetes.ldflags)))
$(eval $(call tool,containerd,containerd,$(containerd),/cmd/containerd,$(containerd.ldflags),$(containerd.flags)))
$(eval $(call tool,containerd-shim-runc-v2,containerd,$(containerd),/cmd/containerd-shim-runc-v2,$(containerd.ldflags),$(containerd.flags)))
$(eval $(call tool,ctr,containerd,$(containerd),/cmd/ctr,$(containerd.ldflags),$(containerd.flags)))
$(eval $(call tool,bridge,cni,github.com/containernetworking/plugins,/plugins/main/bridge,))
$(eval $(call tool,loopback,cni,github.com/containernetworking/plugins,/plugins/main/loopback,))
$(eval $(call tool,host-local,cni,github.com/containernetworking/plugins,/plugins/ipam/host-local,))
$(eval $(call tool,coredns,coredns,github.com/coredns/coredns,.,))
$(eval $(call tool,etcd,etcd,go.etcd.io/etcd/server/v3,,))
$(eval $(call tool,tofu,opentofu,github.com/opentofu/opentofu,/cmd/tofu,$(opentofu.ldflags)))
$(eval $(call tool,helm,helm,helm.sh/helm/v4,/cmd/helm,$(helm.ldflags)))
$(eval $(call tool,kustomize-controller,flux,github.com/fluxcd/kustomize-controller,,))
$(eval $(call tool,argocd,argocd,$(argocd),.,$(argocd.ldflags)))
$(eval $(call tool,controller-gen,dev,sigs.k8s.io/controller-tools,/cmd/controller-gen,))
$(eval $(call tool,tfplugindocs,dev,github.com/hashicorp/terraform-plugin-docs,/cmd/tfplugindocs,))
$(eval $(call tool,gotestsum,dev,gotest.tools/gotestsum,,))
# Without remove_all_sd, it would check configurations of service discovery with the clients of every cloud.
$(eval $(call tool,promtool,prometheus,github.com/prometheus/prometheus,/cmd/promtool,,-tags=remove_all_sd))
$(eval $(call tool,govulncheck,vulnerabilities,golang.org/x/vuln,/cmd/govulncheck,))
$(eval $(call tool,golangci-lint,lint,github.com/golangci/golangci-lint/v2,/cmd/golangci-lint,))
$(eval $(call tool,goreleaser,release,github.com/goreleaser/goreleaser/v2,,))
$(eval $(call tool,actionlint,release,github.com/rhysd/actionlint,/cmd/actionlint,))

# kube-apiserver of another minor, in the tree of that release's module, and with the versions of its own go.mod. As in
# tools/kubernetes, the staging modules are the published ones. Nothing imports the samples, and some have no such
# version. go checks what it adds to go.sum with the checksum database.
bin/kubernetes-v%/kube-apiserver:
	@mkdir -p $(@D)
	@source=$$($(GO) mod download -json k8s.io/kubernetes@v$* | sed -n 's|.*"Dir": "\(.*\)".*|\1|p') && \
		sed '/k8s.io.sample-/d; s|=> ./staging/src/\(.*\)|=> \1 v$(*:1.%=0.%)|' "$$source/go.mod" >$(@D)/go.mod && \
		cat "$$source/go.sum" >$(@D)/go.sum && \
		tools/build.sh "kube-apiserver v$*" $@ "$$source" ./cmd/kube-apiserver -mod=mod -modfile=$(CURDIR)/$(@D)/go.mod \
		-trimpath -ldflags="-s -w $(call version_of_kubernetes,v$*)"

# Which tools a target needs. What a user has on PATH serves the demo and the cluster targets.
control_plane := $(if $(KUBEBUILDER_ASSETS),,kube-apiserver etcd kubectl)
kubectl := $(if $(call on_path,kubectl),,kubectl)
terraform := $(if $(call on_path,tofu)$(call on_path,terraform),,tofu)

generators := controller-gen tofu tfplugindocs
tools.update := $(control_plane) $(generators)
tools.lint := golangci-lint
tools.check := $(control_plane) $(generators) $(tools.lint) gotestsum helm
tools.test := $(tools.check) kube-controller-manager
# Only make test-gitops needs Flux and Argo CD.
tools.test-gitops := $(control_plane) kube-controller-manager controller-gen helm kustomize-controller argocd
tools.test-monitoring := $(control_plane) $(tools.lint)
# The first build of promtool takes four minutes of the processor, so only make test-rules needs it.
tools.test-rules := promtool
tools.vulnerabilities := govulncheck
tools.chaos := $(control_plane)
tools.schemas := $(control_plane)
tools.minors := etcd kubectl helm
tools.bench := $(control_plane) tofu
tools.demo := $(if $(control_plane),kube-apiserver etcd $(kubectl)) $(terraform)
tools.install := $(kubectl)
tools.deploy := $(kubectl)
tools.undeploy := $(kubectl)
tools.dist := goreleaser
tools.test-dist := goreleaser actionlint tofu
# Only make e2e needs these, on Linux.
tools.e2e-tools := kube-apiserver etcd kubectl kube-controller-manager kube-scheduler kubelet kube-proxy coredns \
	containerd containerd-shim-runc-v2 ctr bridge loopback host-local helm
tools.tools := kube-apiserver kube-controller-manager kubectl etcd tofu helm controller-gen \
	tfplugindocs golangci-lint gotestsum goreleaser actionlint

# $(call tools_of,TARGET): the links of its tools, to depend on.
tools_of = $(addprefix bin/,$(tools.$(1)))

# " (2 of 3)": which of the tools that are missing for the goals of this run.
missing := $(strip $(foreach name,$(all_tools),$(if $(filter $(name),\
	$(foreach goal,$(MAKECMDGOALS),$(tools.$(goal)))),$(if $(wildcard $($(name).file)),,$($(name).file)))))
number = $(shell printf '%s\n' $(missing) | grep -nxF $(1) | cut -d: -f1)
position = $(if $(filter $(1),$(missing)), ($(call number,$(1)) of $(words $(missing))))
