//go:build !linux

package testenv

import "syscall"

// killWithParent does nothing: only Linux can end a child with its parent. Close does.
func killWithParent() *syscall.SysProcAttr {
	return nil
}
