package testenv

import "syscall"

// killWithParent makes the kernel kill a child when this process is gone, also after a panic or SIGKILL. To the kernel
// the parent is the thread that started the child, so nothing may be started from a goroutine that is locked to its
// thread and ends.
func killWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
