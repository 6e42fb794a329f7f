// Package testenv runs etcd, kube-apiserver and this module's programs as child processes, for tests, the demo and the
// benchmarks. Everything listens on loopback, writes into one temporary directory, and stops with Close or with the
// parent process.
package testenv

import (
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// HangTimeout ends waits for what is late only if it hangs, where there is no test with a deadline. A machine that is
// busy with other work may take minutes.
const HangTimeout = 10 * time.Minute

// Environment is a temporary directory with the processes that run in it. It is safe for concurrent use.
type Environment struct {
	// Dir has the logs (<name>.log), binaries, and the data of the control plane.
	Dir string
	// Root is the directory of this module's go.mod.
	Root string
	// Config connects to the API server as a cluster administrator. Nil before StartControlPlane.
	Config *rest.Config
	// Kubectl is the path of the kubectl beside the API server, or else on PATH. Empty before StartControlPlane.
	Kubectl string

	controlPlane *envtest.Environment
	supervisor   *supervisor

	mu        sync.Mutex
	processes []*Process
	restarted map[string]*Process
	builds    map[string]func() (string, error)
}

// New creates an Environment without processes. The working directory must be inside this module.
func New() (*Environment, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "idv-")
	if err != nil {
		return nil, err
	}
	return &Environment{
		Dir: dir, Root: root,
		builds: map[string]func() (string, error){}, restarted: map[string]*Process{},
	}, nil
}

// Close stops every process, the newest first and the control plane last, and removes Dir.
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
