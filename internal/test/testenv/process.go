package testenv

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

const (
	requestTimeout = 5 * time.Second
	pollInterval   = 50 * time.Millisecond
	tailBytes      = 4096
)

// Process is a child process. It stops with Stop, Kill, its Environment, or this process.
type Process struct {
	// Log is the file with the stdout and stderr of the process.
	Log string

	name   string
	cmd    *exec.Cmd
	offset int64
	exited chan struct{}
	err    error
}

// Start starts a command as a child process that appends to <name>.log in Dir. A restart can use the same name.
func (e *Environment) Start(name string, cmd *exec.Cmd) (*Process, error) {
	p, err := e.launch(name, cmd)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.processes = append(e.processes, p)
	e.mu.Unlock()
	return p, nil
}

func (e *Environment) launch(name string, cmd *exec.Cmd) (*Process, error) {
	log, err := openLog(e.Dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	info, err := log.Stat()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = killWithParent()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &Process{Log: log.Name(), name: name, cmd: cmd, offset: info.Size(), exited: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// PID is the process id.
func (p *Process) PID() int {
	return p.cmd.Process.Pid
}

// Exited is closed when the process has exited.
func (p *Process) Exited() <-chan struct{} {
	return p.exited
}

// Err waits until the process has exited and returns the error of exec.Cmd's Wait.
func (p *Process) Err() error {
	<-p.exited
	return p.err
}

// Stop sends SIGTERM and waits. If the process has not exited after HangTimeout, Stop kills it and returns an error.
// Stop does nothing if the process has exited.
func (p *Process) Stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(HangTimeout):
		err := fmt.Errorf("%s did not exit within %s of SIGTERM\n%s", p.name, HangTimeout, tail(p.Log))
		return errors.Join(err, p.Kill())
	}
}

// Kill sends SIGKILL and waits.
func (p *Process) Kill() error {
	if err := p.signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.exited
	return nil
}

func (p *Process) signal(signal os.Signal) error {
	err := p.cmd.Process.Signal(signal)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// WaitForURL waits until a GET of url returns 200.
func (p *Process) WaitForURL(ctx context.Context, url string) error {
	httpClient := &http.Client{Timeout: requestTimeout}
	return p.wait(ctx, "GET "+url+" returns 200", func() (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return false, err
		}
		response, err := httpClient.Do(request)
		if err != nil {
			return false, nil
		}
		defer response.Body.Close()
		return response.StatusCode == http.StatusOK, nil
	})
}

// WaitForLog waits until the log of the process matches a pattern, and returns the first match with its groups. It
// ignores the log of an earlier process of the same name.
func (p *Process) WaitForLog(ctx context.Context, pattern *regexp.Regexp) ([]string, error) {
	var match []string
	err := p.wait(ctx, "the log matches "+pattern.String(), func() (bool, error) {
		content, err := os.ReadFile(p.Log)
		if err != nil {
			return false, err
		}
		match = pattern.FindStringSubmatch(string(content[p.offset:]))
		return match != nil, nil
	})
	return match, err
}

func (p *Process) wait(ctx context.Context, what string, done func() (bool, error)) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		// This precedes done, so that the last output of a process counts.
		exited := p.hasExited()
		if ok, err := done(); ok || err != nil {
			return err
		}
		if exited {
			return fmt.Errorf("%s exited (%s) before %s\n%s", p.name, p.cmd.ProcessState, what, tail(p.Log))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: wait until %s: %w\n%s", p.name, what, ctx.Err(), tail(p.Log))
		case <-ticker.C:
		}
	}
}

func (p *Process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func openLog(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// tail is the last part of a log, for an error.
func tail(log string) string {
	content, err := os.ReadFile(log)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the last part of %s:\n%s", filepath.Base(log), content[max(0, len(content)-tailBytes):])
}
