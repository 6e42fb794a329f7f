package main

import (
	"context"
	"crypto/x509/pkix"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"text/template"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/mandate-io/idv/internal/test/testenv"
)

const (
	serviceNetwork   = "10.96.0.0/16"
	apiServerService = "10.96.0.1"
	podNetwork       = "10.78.0.0/16"
	apiServerURL     = "https://" + nodeAddress + ":6443"
	pauseImage       = "e2e.invalid/pause:1"
)

//go:embed node
var configurations embed.FS

// node is a Kubernetes cluster of one node. Its parts are processes of this machine, in the namespaces.
type node struct {
	*testenv.Environment
	authority *authority
	bin       string // the directory of the tools
	runc      string
	// failed ends with the first part of the node that exits.
	failed context.Context
	fail   context.CancelCauseFunc
	parts  []*part
}

// part is a process of the node, which must not exit by itself.
type part struct {
	*testenv.Process
	killed atomic.Bool
}

// values are those that the configurations have.
type values struct {
	Dir, Bin, PKI, PodLogs, Runc, Cgroup, Name, Address, PodNetwork, PauseImage, SandboxHost string
}

// newNode creates a node that runs nothing yet. Its files are in the tmpfs of the namespaces.
func newNode(ctx context.Context) (*node, error) {
	if err := os.Setenv("TMPDIR", scratch); err != nil {
		return nil, err
	}
	env, err := testenv.New()
	if err != nil {
		return nil, err
	}
	n := &node{Environment: env, bin: filepath.Join(env.Root, "bin")}
	n.failed, n.fail = context.WithCancelCause(ctx)
	path := n.bin + ":" + os.Getenv("PATH") + ":" + filepath.Join(n.bin, "debian")
	if err := os.Setenv("PATH", path); err != nil {
		return nil, err
	}
	if n.runc, err = exec.LookPath("runc"); err != nil {
		return nil, err
	}
	err = n.configure()
	return n, err
}

// configure writes the certificates and the configurations.
func (n *node) configure() error {
	var err error
	if n.authority, err = newAuthority(filepath.Join(n.Dir, "pki")); err != nil {
		return err
	}
	if err := n.authority.writeServiceAccountKey(); err != nil {
		return err
	}
	hosts := []string{
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "127.0.0.1", apiServerService, nodeAddress,
	}
	if err := n.authority.sign("apiserver", pkix.Name{CommonName: "kube-apiserver"}, hosts...); err != nil {
		return err
	}
	for name, subject := range map[string]pkix.Name{
		"admin":              {CommonName: "admin", Organization: []string{"system:masters"}},
		"controller-manager": {CommonName: "system:kube-controller-manager"},
		"scheduler":          {CommonName: "system:kube-scheduler"},
		"proxy":              {CommonName: "system:kube-proxy"},
		"kubelet":            {CommonName: "system:node:" + nodeName, Organization: []string{"system:nodes"}},
	} {
		if err := errors.Join(n.authority.sign(name, subject), n.writeKubeconfig(name)); err != nil {
			return err
		}
	}
	return n.writeConfigurations()
}

func (n *node) kubeconfig(name string) string { return filepath.Join(n.Dir, name+".kubeconfig") }

func (n *node) writeKubeconfig(name string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[nodeName] = &clientcmdapi.Cluster{
		Server: apiServerURL, CertificateAuthority: n.authority.path("ca.crt"),
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificate: n.authority.path(name + ".crt"), ClientKey: n.authority.path(name + ".key"),
	}
	config.Contexts[nodeName] = &clientcmdapi.Context{Cluster: nodeName, AuthInfo: name}
	config.CurrentContext = nodeName
	return clientcmd.WriteToFile(*config, n.kubeconfig(name))
}

func (n *node) writeConfigurations() error {
	all, err := template.ParseFS(configurations, "node/*")
	if err != nil {
		return err
	}
	v := values{
		Dir: n.Dir, Bin: n.bin, PKI: n.authority.dir, PodLogs: n.podLogs(), Runc: n.runc,
		Cgroup: os.Getenv(cgroupVariable), Name: nodeName, Address: nodeAddress, PodNetwork: podNetwork,
		PauseImage: pauseImage, SandboxHost: sandboxHost,
	}
	// containerd reads all files of this directory.
	if err := os.MkdirAll(filepath.Join(n.Dir, "cni"), 0o700); err != nil {
		return err
	}
	for _, configuration := range all.Templates() {
		path := filepath.Join(n.Dir, configuration.Name())
		if configuration.Name() == "cni.conflist" {
			path = filepath.Join(n.Dir, "cni", configuration.Name())
		}
		file, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := errors.Join(configuration.Execute(file, v), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) podLogs() string { return filepath.Join(n.Dir, "pods") }

// launch starts a part of the node, which must not exit.
func (n *node) launch(name string, arguments ...string) (*testenv.Process, error) {
	command := exec.CommandContext(context.Background(), filepath.Join(n.bin, name), arguments...) //nolint:gosec // a tool
	process, err := n.Start(name, command)
	if err != nil {
		return nil, err
	}
	started := &part{Process: process}
	n.parts = append(n.parts, started)
	go func() {
		<-process.Exited()
		if !started.killed.Load() {
			n.fail(fmt.Errorf("%s has exited: %w", name, process.Err()))
		}
	}()
	return process, nil
}
