package argocd

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/test/gitops/cluster"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const argocdNamespace = "argocd"

// world is a cluster with Argo CD, the operator and the sandbox.
type world struct {
	*cluster.Cluster
	repository *repository
	revision   string   // that was published last
	hosts      []string // environment variables that lead to them
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: cluster.New(t, env), repository: newRepository(t)}
	w.Publish = w.publish
	w.hosts = w.StartHosts(map[string]http.Handler{
		"git.example.com": w.repository.handler(), "ghcr.io": newRegistry(w),
	})
	applications, err := os.ReadFile(filepath.Join(env.Root, "examples", "gitops", "argocd", "operator.yaml"))
	w.Check(err)
	w.Files["platform/operator.yaml"] = string(applications)
	w.revision = w.commit(w.Files)
	w.settings()
	w.startArgoCD()
	return w
}

// settings are what an installation of Argo CD has: its namespace, ConfigMap, Secret and default project.
func (w *world) settings() {
	w.Helper()
	w.CreateNamespace(argocdNamespace)
	w.Kubectl("apply", "--server-side", "--validate=strict", "--filename=argocd/argocd-cm.yaml")
	w.Kubectl("create", "secret", "generic", "argocd-secret", "--namespace", argocdNamespace,
		"--from-literal=server.secretkey=test")
	w.applyText(defaultProject)
}

// applyText applies what the examples do not have.
func (w *world) applyText(manifests string) {
	w.Helper()
	// kubectl splits file names at commas, which the names of steps have, and so their directories.
	path := filepath.Join(filepath.Dir(w.Kubeconfig), "manifests.yaml")
	w.Check(os.WriteFile(path, []byte(manifests), 0o600))
	w.Kubectl("apply", "--server-side", "--validate=strict", "--filename="+path)
}

const defaultProject = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ["*"]
  destinations: [{namespace: "*", server: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`

func (w *world) startArgoCD() {
	w.Helper()
	redis, port := testenv.FreeAddress(w.T), w.freePort()
	w.start("redis", nil, "redis", redis)
	// git does not read SSL_CERT_FILE.
	w.start("repo-server", append(w.hosts, "GIT_SSL_CAINFO="+w.Roots, "PATH="+w.path()),
		"argocd-repo-server", "--address=127.0.0.1", "--port="+port, "--metrics-address=127.0.0.1",
		"--metrics-port="+w.freePort(), "--redis="+redis)
	w.start("application-controller", nil,
		"argocd-application-controller", "--namespace="+argocdNamespace, "--repo-server=127.0.0.1:"+port, "--redis="+redis,
		"--metrics-port="+w.freePort(), "--persist-resource-health", "--app-resync=10", "--app-resync-jitter=0")
}

// start starts a server of Argo CD.
func (w *world) start(name string, environment []string, arguments ...string) {
	w.Helper()
	dir := w.TempDir()
	command := exec.CommandContext(context.WithoutCancel(w.Context()), w.Tool("argocd"), arguments...)
	command.Env = append(append(os.Environ(),
		"KUBECONFIG="+w.Kubeconfig, "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_SYNC_WAVE_DELAY=0", "ARGOCD_GPG_ENABLED=false",
		"ARGOCD_TLS_DATA_PATH="+dir, "ARGOCD_SSH_DATA_PATH="+dir, "HOME="+dir, "TMPDIR="+dir), environment...)
	w.Start(name, command)
}

func (w *world) freePort() string {
	w.Helper()
	_, port, err := net.SplitHostPort(testenv.FreeAddress(w.T))
	w.Check(err)
	return port
}

// path is a PATH with the programs that the repo server runs: git, helm and kustomize, which kubectl has.
func (w *world) path() string {
	w.Helper()
	dir := w.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = build ] && shift && exec '" + env.Kubectl + "' kustomize \"$@\"\n"
	w.Check(os.WriteFile(filepath.Join(dir, "kustomize"), []byte(script), 0o700))
	return strings.Join([]string{dir, filepath.Dir(w.Tool("helm")), os.Getenv("PATH")}, ":")
}
