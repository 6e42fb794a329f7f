package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// exitTimeout is how long programs on the leash may take to be gone once it is released.
const exitTimeout = 10 * time.Second

// supervisor makes programs that a library starts, and whose attributes we therefore cannot set, end with this process even
// if it is killed or panics. Two fifos do it. This process holds the first one open for writing: readers see its end
// when the process is gone. The programs hold the second: this process sees its end when they are.
type supervisor struct {
	dir      string
	fifo     *os.File
	programs int // the file descriptor of the second fifo
}

func newSupervisor(dir string) (*supervisor, error) {
	l := &supervisor{dir: dir}
	for _, path := range []string{l.path("leash"), l.path("programs")} {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return nil, fmt.Errorf("making a fifo: %w", err)
		}
	}
	var err error
	// Open for reading too: for writing only, it would wait for a reader.
	if l.fifo, err = os.OpenFile(l.path("leash"), os.O_RDWR, 0); err != nil {
		return nil, err
	}
	// Not an os.File, which would wait in Read instead of saying that there is nothing yet.
	if l.programs, err = syscall.Open(l.path("programs"), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err != nil {
		return nil, errors.Join(err, l.fifo.Close())
	}
	return l, nil
}

func (l *supervisor) path(name string) string {
	return filepath.Join(l.dir, name)
}

// wrap returns the path of a script that runs the binary, next to a shell that waits for the leash's end and then kills
// the binary. The library signals the whole process group: script and shell outlive that at every moment, because the
// binary may. When the binary has ended, so do they, and nobody is left behind for an init that may not care.
// A call with --help is a question that the library asks before it starts the binary. What was started is written down
// for Crash and Resume.
func (l *supervisor) wrap(binary string) (string, error) {
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
	path := l.path(filepath.Base(binary) + ".sh")
	content := fmt.Appendf(nil, script, l.path("leash"), l.path("programs"), binary, l.path(filepath.Base(binary)))
	return path, os.WriteFile(path, content, 0o700) //nolint:gosec // it is a program
}

// killAll kills what is still on the leash, and returns when it is gone.
func (l *supervisor) killAll() error {
	return errors.Join(l.fifo.Close(), l.waitForExit(), syscall.Close(l.programs))
}

func (l *supervisor) waitForExit() error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	deadline := time.After(exitTimeout)
	for {
		// At the end, when nobody has it open for writing any more, read returns nothing and no error.
		if n, err := syscall.Read(l.programs, make([]byte, 1)); n == 0 && err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-deadline:
			return fmt.Errorf("programs of the control plane still run %s after they were killed", exitTimeout)
		}
	}
}
