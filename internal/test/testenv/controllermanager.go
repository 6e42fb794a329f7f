package testenv

import (
	"context"
	"os/exec"
	"path/filepath"
)

// StartControllerManager starts kube-controller-manager with the namespace controller and the garbage collector, which
// complete deletions. Each works with its own ServiceAccount, as in most clusters, and not as an administrator. Use it
// after InstallCRDs: it discovers a new kind only after half a minute.
func (e *Environment) StartControllerManager() (*Process, error) {
	const name = "kube-controller-manager"
	dir := e.assetsDir()
	assets, err := findAssets(dir, name)
	if err != nil { // the archives of envtest do not have it
		assets, err = findAssets(filepath.Join(e.Root, "bin"), name)
	}
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(e.Dir, name+".kubeconfig")
	if err := e.WriteKubeconfig(kubeconfig); err != nil {
		return nil, err
	}
	return e.Start(name, exec.CommandContext(context.Background(), assets[name], //nolint:gosec // one of our tools
		"--kubeconfig="+kubeconfig,
		"--controllers=namespace-controller,garbage-collector-controller",
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--secure-port=0", // nothing needs its endpoints
	))
}
