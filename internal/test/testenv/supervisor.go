package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// supervisor kills the programs of the control plane when this process exits, even if it panics or is killed. A library
// starts these programs, so their process attributes cannot be set. Instead, the supervisor uses two FIFOs:
//   - This process has the parent FIFO open for writing. Its readers get EOF when this process is gone.
//   - The programs have the children FIFO open for writing. This process gets EOF when they are gone.
type supervisor struct {
	dir      string
	parent   *os.File
	children int // a file descriptor
}

func newSupervisor(dir string) (*supervisor, error) {
	s := &supervisor{dir: dir}
	for _, path := range []string{s.path("parent"), s.path("children")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return nil, fmt.Errorf("make a FIFO: %w", err)
		}
	}
	var err error
	// Open it for reading too: opening it only for writing blocks until there is a reader.
	if s.parent, err = os.OpenFile(s.path("parent"), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	// This is not an os.File, because Read would block instead of returning EAGAIN.
	const flags = syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	if s.children, err = syscall.Open(s.path("children"), flags, 0); err != nil {
		return nil, errors.Join(err, s.parent.Close())
	}
	return s, nil
}

func (s *supervisor) path(name string) string {
	return filepath.Join(s.dir, name)
}

// wrap returns the path of a script that runs the binary, and a guard that kills it when the parent FIFO closes. The
// library signals the whole process group, so the script and the guard ignore signals as long as the binary runs. Both
// exit with the binary: no orphan is left for init. With --help, which the library runs before the binary, there is no
// guard. The script records the process id and the arguments for Crash and Restart.
func (s *supervisor) wrap(binary string) (string, error) {
	const script = `#!/bin/sh
[ "$1" != --help ] || exec '%[3]s' "$@"
trap : HUP INT TERM # the binary does not inherit this
exec 8<'%[1]s' 9<>'%[2]s'
'%[3]s' "$@" 8<&- &
program=$!
printf '%%s\n' "$@" >'%[4]s.argv'
echo $program >'%[4]s.pid'
trap '' HUP INT TERM # the shell inherits this
(read -r _ <&8; kill -KILL $program) >/dev/null 2>&1 &
guard=$!
wait $program
status=$?
kill -KILL $guard 2>/dev/null
wait $guard 2>/dev/null
exit $status
`
	path := s.path(filepath.Base(binary) + ".sh")
	content := fmt.Appendf(nil, script, s.path("parent"), s.path("children"), binary, s.path(filepath.Base(binary)))
	return path, os.WriteFile(path, content, 0o700) //nolint:gosec // it is a program
}

// killAll kills the programs that still run, and returns when they are gone.
func (s *supervisor) killAll() error {
	return errors.Join(s.parent.Close(), s.waitForExit(), syscall.Close(s.children))
}

func (s *supervisor) waitForExit() error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	deadline := time.After(HangTimeout)
	for {
		// At EOF, read returns no bytes and no error.
		if n, err := syscall.Read(s.children, make([]byte, 1)); n == 0 && err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-deadline:
			return fmt.Errorf("programs of the control plane still run %s after SIGKILL", HangTimeout)
		}
	}
}
