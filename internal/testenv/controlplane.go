package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// StartControlPlane starts etcd and kube-apiserver, from the directory KUBEBUILDER_ASSETS or else from bin in the
// repository, and sets Config and Kubectl. The CRDs are not installed: see InstallCRDs. There are no other parts of a
// cluster, so nothing collects garbage and a namespace that is deleted stays Terminating.
func (e *Environment) StartControlPlane() error {
	assets, err := e.assets("etcd", "kube-apiserver", "kubectl")
	if err != nil {
		return err
	}
	if e.leash, err = newLeash(e.Dir); err != nil {
		return err
	}
	plane := &envtest.Environment{
		ControlPlaneStartTimeout: time.Minute,
		ControlPlaneStopTimeout:  time.Minute,
	}
	plane.ControlPlane.Etcd = &envtest.Etcd{}
	plane.ControlPlane.KubectlPath = assets["kubectl"]
	e.controlPlane = plane

	etcd, apiServer := plane.ControlPlane.Etcd, plane.ControlPlane.GetAPIServer()
	var etcdLog, apiServerLog *os.File
	if etcd.Path, etcd.DataDir, etcdLog, err = e.prepare(assets["etcd"]); err != nil {
		return err
	}
	defer func() { _ = etcdLog.Close() }()
	if apiServer.Path, apiServer.CertDir, apiServerLog, err = e.prepare(assets["kube-apiserver"]); err != nil {
		return err
	}
	defer func() { _ = apiServerLog.Close() }()
	etcd.Out, etcd.Err = etcdLog, etcdLog
	apiServer.Out, apiServer.Err = apiServerLog, apiServerLog

	if e.Config, err = plane.Start(); err != nil {
		return fmt.Errorf("%w\n%s\n%s", err, tail(etcdLog.Name()), tail(apiServerLog.Name()))
	}
	e.Kubectl = assets["kubectl"]
	return nil
}

// prepare makes what a program of the control plane needs: itself on the leash, an empty directory, and a log.
func (e *Environment) prepare(binary string) (path, dir string, log *os.File, err error) {
	name := filepath.Base(binary)
	if path, err = e.leash.wrap(binary); err != nil {
		return "", "", nil, err
	}
	if dir, err = os.MkdirTemp(e.Dir, name+"-"); err != nil {
		return "", "", nil, err
	}
	log, err = openLog(e.Dir, name)
	return path, dir, log, err
}

func (e *Environment) assets(names ...string) (map[string]string, error) {
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		dir = filepath.Join(e.Root, "bin")
	}
	paths := map[string]string{}
	for _, name := range names {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if _, err := exec.LookPath(path); err != nil {
			return nil, fmt.Errorf("%s is missing in %s: run `make tools` (it takes minutes the first time), or set "+
				"KUBEBUILDER_ASSETS to a directory that holds kube-apiserver, etcd and kubectl: %w", name, dir, err)
		}
		paths[name] = path
	}
	return paths, nil
}

func (e *Environment) stopControlPlane() error {
	var errs []error
	if e.controlPlane != nil {
		errs = append(errs, e.controlPlane.Stop())
	}
	if e.leash != nil {
		errs = append(errs, e.leash.release())
	}
	return errors.Join(errs...)
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

// CreateNamespace creates a namespace that nobody else has, and returns its name.
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
