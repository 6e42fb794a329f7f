package testenv

import "syscall"

// killWithParent makes the kernel kill a child when this process is gone, even after a panic or SIGKILL. For the
// kernel, the parent is the thread that started the child. So a goroutine that is locked to a thread must not start one
// and exit.
func killWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
