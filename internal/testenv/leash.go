package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// leash makes programs that a library starts, and whose attributes we therefore cannot set, end with this process even
// if it is killed or panics. It is a fifo that this process holds open for writing: readers see its end when the
// process is gone.
type leash struct {
	dir  string
	fifo *os.File
}

func newLeash(dir string) (*leash, error) {
	path := filepath.Join(dir, "leash")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("making a fifo: %w", err)
	}
	// Open for reading too: for writing only, it would wait for a reader.
	fifo, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &leash{dir: dir, fifo: fifo}, nil
}

// wrap returns the path of a script that becomes the binary and leaves behind, in its process group, a shell that waits
// for the leash's end. A call with --help is a question that the library asks before it starts the binary.
func (l *leash) wrap(binary string) (string, error) {
	const script = `#!/bin/sh
pid=$$
[ "$1" = --help ] || (read -r _ <'%s' || kill -KILL $pid) </dev/null >/dev/null 2>&1 &
exec '%s' "$@"
`
	path := filepath.Join(l.dir, filepath.Base(binary)+".sh")
	return path, os.WriteFile(path, fmt.Appendf(nil, script, l.fifo.Name(), binary), 0o700) //nolint:gosec // it is a program
}

func (l *leash) release() error {
	return l.fifo.Close()
}
