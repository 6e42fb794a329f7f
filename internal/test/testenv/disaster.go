package testenv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// The programs of the control plane.
const (
	Etcd      = "etcd"
	APIServer = "kube-apiserver"
)

// Crash kills a program of the control plane with SIGKILL and returns when it is gone.
func (e *Environment) Crash(program string) error {
	e.mu.Lock()
	resumed := e.restarted[program]
	e.mu.Unlock()
	if resumed != nil {
		return resumed.Kill()
	}
	pid, err := e.firstPID(program)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill %s: %w", program, err)
	}
	gone := func(context.Context) (bool, error) {
		return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH), nil
	}
	err = wait.PollUntilContextTimeout(context.Background(), pollInterval, HangTimeout, true, gone)
	if err != nil {
		return fmt.Errorf("%s still runs %s after SIGKILL", program, HangTimeout)
	}
	return nil
}

// firstPID is the process id of a program that StartControlPlane started.
func (e *Environment) firstPID(program string) (int, error) {
	content, err := os.ReadFile(filepath.Join(e.Dir, program+".pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(content)))
}

func (e *Environment) pid(program string) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if resumed := e.restarted[program]; resumed != nil {
		return resumed.PID(), nil
	}
	return e.firstPID(program)
}

// Restart starts a crashed program with the same arguments, and so with the same address, data and certificates, and
// waits until it is ready. The library's own restart would create other certificates, which existing clients do not
// trust.
func (e *Environment) Restart(ctx context.Context, program string) error {
	argv, err := os.ReadFile(filepath.Join(e.Dir, program+".argv"))
	if err != nil {
		return err
	}
	assets, err := e.assets(program)
	if err != nil {
		return err
	}
	arguments := strings.Split(strings.TrimSuffix(string(argv), "\n"), "\n")
	cmd := exec.CommandContext(context.WithoutCancel(ctx), assets[program], arguments...) //nolint:gosec // as before
	process, err := e.launch(program, cmd)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.restarted[program] = process
	e.mu.Unlock()
	return process.wait(ctx, "it is ready", func() (bool, error) { return e.healthy(ctx, program), nil })
}

func (e *Environment) healthy(ctx context.Context, program string) bool {
	httpClient := &http.Client{Timeout: requestTimeout}
	health := e.controlPlane.ControlPlane.Etcd.URL.String() + "/health"
	if program == APIServer {
		server, _, err := rest.DefaultServerUrlFor(e.Config)
		if err != nil {
			return false
		}
		if httpClient, err = rest.HTTPClientFor(e.Config); err != nil {
			return false
		}
		health = server.JoinPath("readyz").String()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, health, http.NoBody)
	if err != nil {
		return false
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func (e *Environment) killRestarted() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	for _, process := range e.restarted {
		errs = append(errs, process.Kill())
	}
	return errors.Join(errs...)
}

// Backup copies the current data of etcd and returns the directory of the copy.
func (e *Environment) Backup() (dir string, err error) {
	pid, err := e.pid(Etcd)
	if err != nil {
		return "", err
	}
	// etcd recovers from a copy that is consistent at one moment, as after a crash. So it must not write during the copy.
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, syscall.Kill(pid, syscall.SIGCONT)) }()
	if dir, err = os.MkdirTemp(e.Dir, "backup-"); err != nil {
		return "", err
	}
	return dir, os.CopyFS(dir, os.DirFS(e.controlPlane.ControlPlane.Etcd.DataDir))
}

// Restore replaces the data of etcd with a Backup. Later writes are lost, and resource versions continue from the
// backup. Clients lose their connections.
func (e *Environment) Restore(ctx context.Context, backup string) error {
	data := e.controlPlane.ControlPlane.Etcd.DataDir
	if err := errors.Join(e.Crash(APIServer), e.Crash(Etcd), os.RemoveAll(data)); err != nil {
		return err
	}
	if err := os.CopyFS(data, os.DirFS(backup)); err != nil {
		return err
	}
	// etcd requires this mode.
	if err := os.Chmod(data, 0o700); err != nil { //nolint:gosec // a directory
		return err
	}
	if err := e.Restart(ctx, Etcd); err != nil {
		return err
	}
	return e.Restart(ctx, APIServer)
}
