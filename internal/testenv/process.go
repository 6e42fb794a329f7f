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
	stopTimeout    = 60 * time.Second
	requestTimeout = 5 * time.Second
	pollInterval   = 50 * time.Millisecond
	tailBytes      = 4096
)

// Process is a child process. It ends with Stop, with Kill, with its Environment, or with this process.
type Process struct {
	// Log is the file that holds what the process wrote to stdout and stderr.
	Log string

	name   string
	cmd    *exec.Cmd
	offset int64
	exited chan struct{}
	err    error
}

// Start starts a command as a child process that writes to <name>.log in Dir. A name can be used again, for a restart:
// the log is appended to.
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
		return nil, fmt.Errorf("starting %s: %w", name, err)
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

// Exited is closed once the process has ended, by whatever cause.
func (p *Process) Exited() <-chan struct{} {
	return p.exited
}

// Err is how the process ended, as exec.Cmd's Wait tells it. It is to be asked only after Exited.
func (p *Process) Err() error {
	<-p.exited
	return p.err
}

// Stop sends SIGTERM, as a cluster does, and waits. A process that has not ended after a minute is killed, which is an
// error. If the process has ended already, nothing happens.
func (p *Process) Stop() error {
	if err := p.signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.exited:
		return nil
	case <-time.After(stopTimeout):
		return errors.Join(fmt.Errorf("%s did not end within %s of SIGTERM\n%s", p.name, stopTimeout, tail(p.Log)), p.Kill())
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

// WaitForURL waits until a GET of url answers 200.
func (p *Process) WaitForURL(ctx context.Context, url string) error {
	httpClient := &http.Client{Timeout: requestTimeout}
	return p.wait(ctx, "GET "+url+" answers 200", func() (bool, error) {
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

// WaitForLog waits until what the process has logged matches a pattern, and returns the first match with its groups. It
// does not see what an earlier process of the same name logged.
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
		// Asked before done, so that what a process did just before its end counts.
		ended := p.hasExited()
		if ok, err := done(); ok || err != nil {
			return err
		}
		if ended {
			return fmt.Errorf("%s ended (%s) before %s\n%s", p.name, p.cmd.ProcessState, what, tail(p.Log))
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: waiting until %s: %w\n%s", p.name, what, ctx.Err(), tail(p.Log))
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

// tail is the end of a log, for an error's text.
func tail(log string) string {
	content, err := os.ReadFile(log) //nolint:gosec // it is ours
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("the end of %s:\n%s", filepath.Base(log), content[max(0, len(content)-tailBytes):])
}
