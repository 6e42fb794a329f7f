// Package testenv runs the real parts on this machine: etcd and kube-apiserver, and this module's programs as child
// processes. Tests, the demo and the benchmarks use it. Everything listens on loopback, writes into one temporary
// directory, and ends with Close, or with the process that started it.
package testenv

import (
	"errors"
	"os"
	"slices"
	"sync"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Environment is a temporary directory with the processes that run in it. Its methods can be called concurrently.
type Environment struct {
	// Dir is where logs (<name>.log), binaries, and the data of the control plane are.
	Dir string
	// Root is the directory of this module's go.mod.
	Root string
	// Config connects to the API server as a cluster administrator. Nil before StartControlPlane.
	Config *rest.Config
	// Kubectl is the path of a kubectl, of the control plane's version if there is one. Empty before StartControlPlane.
	Kubectl string

	controlPlane *envtest.Environment
	supervisor        *supervisor

	mu        sync.Mutex
	processes []*Process
	restarted   map[string]*Process
	builds    map[string]func() (string, error)
}

// New makes an Environment in which nothing runs yet. The working directory has to be inside this module.
func New() (*Environment, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idv-")
	if err != nil {
		return nil, err
	}
	return &Environment{Dir: dir, Root: root, builds: map[string]func() (string, error){}, restarted: map[string]*Process{}}, nil
}

// Close ends every process, the youngest first and the control plane last, and removes Dir.
func (e *Environment) Close() error {
	e.mu.Lock()
	processes := e.processes
	e.processes = nil
	e.mu.Unlock()

	var errs []error
	for _, process := range slices.Backward(processes) {
		errs = append(errs, process.Stop())
	}
	errs = append(errs, e.stopControlPlane(), os.RemoveAll(e.Dir))
	return errors.Join(errs...)
}
