package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

// namespaces are all but those of users and cgroups: what the node mounts, starts and configures is its own.
const namespaces = syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC |
	syscall.CLONE_NEWUTS

// unsupported says why this machine cannot run the node, or nil.
func unsupported() error {
	if os.Geteuid() != 0 {
		return errors.New("a Kubernetes node needs root; run `sudo make e2e`")
	}
	for _, program := range []string{"ip", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing; install it (Debian: apt-get install iproute2 mount)", program)
		}
	}
	for _, program := range []string{"runc", "nft"} {
		if err := availableOnDebian(program); err != nil {
			return err
		}
	}
	var said bytes.Buffer
	if _, err := isolate(&said, stageProbe); err != nil {
		return fmt.Errorf("a Kubernetes node needs namespaces, overlayfs, veth and cgroups of this machine: %w", err)
	}
	if said.Len() > 0 {
		return fmt.Errorf("a Kubernetes node needs namespaces, overlayfs and veth: %s", strings.TrimSpace(said.String()))
	}
	return nil
}

// availableOnDebian is nil if a program is installed, or can be unpacked from its Debian package.
func availableOnDebian(program string) error {
	if _, err := exec.LookPath(program); err == nil {
		return nil
	}
	for _, tool := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("%s is missing, and without %s it cannot be fetched; install %s", program, tool, program)
		}
	}
	return nil
}

// isolate runs a stage of this program in new namespaces, with a cgroup for the Pods. When its first process ends, all
// others do, and nothing is left of mounts, interfaces and rules. Ctrl-C interrupts it; a second one kills it.
func isolate(stderr io.Writer, stage string) (int, error) {
	group, err := newCgroup()
	if err != nil {
		return 0, err
	}
	executable, err := os.Executable()
	if err != nil {
		return 0, errors.Join(err, group.remove())
	}
	runtime.LockOSThread()                              // the kernel kills the child when this thread is gone
	first := exec.Command(executable, stageInit, stage) //nolint:noctx,gosec // this program; signals end it
	first.Stdout, first.Stderr = os.Stdout, stderr
	first.Env = append(os.Environ(), cgroupVariable+"="+group.name)
	first.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if err := first.Start(); err != nil {
		return 0, errors.Join(err, group.remove())
	}
	go func() {
		<-signals
		_ = first.Process.Signal(syscall.SIGTERM)
		<-signals
		_ = first.Process.Kill()
	}()
	err = first.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = nil // it has said why
	}
	return max(first.ProcessState.ExitCode(), 0), errors.Join(err, group.remove())
}

// runAsInit is the first process of the namespaces: it starts a stage, and reaps the orphans of container runtimes.
func runAsInit(arguments []string) (int, error) {
	// Without this, mounts would reach the machine.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return 0, fmt.Errorf("make the mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return 0, fmt.Errorf("mount /proc: %w", err)
	}
	attributes := &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}}
	stage, err := os.StartProcess("/proc/self/exe", append([]string{"e2e"}, arguments...), attributes) //nolint:gosec // us
	if err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		for received := range signals {
			_ = stage.Signal(received)
		}
	}()
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case ended == stage.Pid && status.Exited():
			return status.ExitStatus(), nil
		case ended == stage.Pid:
			return 0, fmt.Errorf("killed by %s", status.Signal())
		}
	}
}
