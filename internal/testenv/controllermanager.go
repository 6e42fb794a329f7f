package testenv

import (
	"context"
	"os/exec"
	"path/filepath"
)

// StartControllerManager starts kube-controller-manager with the controllers that end a deletion as a cluster does: the
// content of namespaces, and what belongs to an owner that is gone. Call it after InstallCRDs: it sees a new kind only
// half a minute later.
func (e *Environment) StartControllerManager() (*Process, error) {
	const name = "kube-controller-manager"
	dir := e.assetsDir()
	assets, err := findAssets(dir, name)
	if err != nil { // the archives that KUBEBUILDER_ASSETS is made from do not have it
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
		"--leader-elect=false",
		"--secure-port=0", // it serves nothing that anybody asks for
	))
}
