//go:build !linux

package testenv

import "syscall"

// killWithParent does nothing: only Linux can kill a child with its parent. Close stops the child.
func killWithParent() *syscall.SysProcAttr {
	return nil
}
