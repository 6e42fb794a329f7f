package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// StartControlPlane starts etcd and kube-apiserver from the directory KUBEBUILDER_ASSETS, or else from bin in the
// repository, and sets Config and Kubectl. It does not install the CRDs: see InstallCRDs. No other components run, so
// garbage is not collected and deleted namespaces stay Terminating, until StartControllerManager. Each flag of
// kube-apiserver is NAME=VALUE.
func (e *Environment) StartControlPlane(flags ...string) error {
	assets, err := e.assets("etcd", "kube-apiserver")
	if err != nil {
		return err
	}
	if e.Kubectl, err = e.findKubectl(); err != nil {
		return err
	}
	if e.supervisor, err = newSupervisor(e.Dir); err != nil {
		return err
	}
	plane := &envtest.Environment{
		UseExistingCluster:       new(false), // ignores USE_EXISTING_CLUSTER, which would select a cluster of the user
		ControlPlaneStartTimeout: HangTimeout,
	}
	plane.ControlPlane.Etcd = &envtest.Etcd{}
	plane.ControlPlane.KubectlPath = e.Kubectl
	e.controlPlane = plane

	etcd := plane.ControlPlane.Etcd
	apiServer := plane.ControlPlane.GetAPIServer()
	var etcdLog, apiServerLog *os.File
	if etcd.Path, etcd.DataDir, etcdLog, err = e.prepare(assets["etcd"]); err != nil {
		return err
	}
	defer func() { _ = etcdLog.Close() }()
	if apiServer.Path, apiServer.CertDir, apiServerLog, err = e.prepare(assets["kube-apiserver"]); err != nil {
		return err
	}
	defer func() { _ = apiServerLog.Close() }()
	auditFlags, err := e.writeAuditPolicy()
	if err != nil {
		return err
	}
	for flag, value := range auditFlags {
		apiServer.Configure().Set(flag, value)
	}
	for _, flag := range flags {
		name, value, _ := strings.Cut(flag, "=")
		apiServer.Configure().Set(name, value)
	}
	etcd.Out, etcd.Err = etcdLog, etcdLog
	apiServer.Out, apiServer.Err = apiServerLog, apiServerLog

	if e.Config, err = plane.Start(); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, tail(etcdLog.Name()), tail(apiServerLog.Name()))
	}
	return nil
}

// prepare returns what a program of the control plane needs: a supervised command, an empty directory and a log.
func (e *Environment) prepare(binary string) (path, dir string, log *os.File, err error) {
	name := filepath.Base(binary)
	if path, err = e.supervisor.wrap(binary); err != nil {
		return "", "", nil, err
	}
	if dir, err = os.MkdirTemp(e.Dir, name+"-"); err != nil {
		return "", "", nil, err
	}
	log, err = openLog(e.Dir, name)
	return path, dir, log, err
}

func (e *Environment) assetsDir() string {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); dir != "" {
		return dir
	}
	return filepath.Join(e.Root, "bin")
}

// findKubectl prefers the kubectl in the directory of the API server, which has the same version, to the one on PATH.
func (e *Environment) findKubectl() (string, error) {
	assets, err := e.assets("kubectl")
	if err == nil {
		return assets["kubectl"], nil
	}
	if path, lookErr := exec.LookPath("kubectl"); lookErr == nil {
		return filepath.Abs(path)
	}
	return "", err
}

func (e *Environment) assets(names ...string) (map[string]string, error) {
	return findAssets(e.assetsDir(), names...)
}

func findAssets(dir string, names ...string) (map[string]string, error) {
	paths := map[string]string{}
	for _, name := range names {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if _, err := exec.LookPath(path); err != nil {
			return nil, fmt.Errorf("%s is missing in %s; run `make tools`, or set KUBEBUILDER_ASSETS to a directory "+
				"with kube-apiserver, etcd and kubectl: %w", name, dir, err)
		}
		paths[name] = path
	}
	return paths, nil
}

// stopControlPlane kills the programs. A graceful stop of kube-apiserver takes a minute or more while there are watches
// or etcd is gone, and its data is not needed.
func (e *Environment) stopControlPlane() error {
	if e.supervisor == nil {
		return nil
	}
	err := errors.Join(e.killRestarted(), e.supervisor.killAll())
	if e.controlPlane != nil {
		err = errors.Join(err, e.controlPlane.WebhookInstallOptions.Cleanup()) // removes certificates outside Dir
	}
	return err
}

// InstallCRDs installs the CRDs of config/crd and waits until the API server serves them.
func (e *Environment) InstallCRDs() error {
	_, err := envtest.InstallCRDs(e.Config, envtest.CRDInstallOptions{
		Paths:              []string{filepath.Join(e.Root, "config", "crd", "bases")},
		ErrorIfPathMissing: true,
	})
	return err
}

// WriteKubeconfig writes a kubeconfig of the cluster administrator to a file that only its owner can read.
func (e *Environment) WriteKubeconfig(path string) error {
	return os.WriteFile(path, e.controlPlane.KubeConfig, 0o600)
}

// CreateNamespace creates a namespace with a unique name and returns the name.
func (e *Environment) CreateNamespace(ctx context.Context) (string, error) {
	c, err := client.New(e.Config, client.Options{})
	if err != nil {
		return "", err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(ctx, namespace); err != nil {
		return "", err
	}
	return namespace.Name, nil
}
