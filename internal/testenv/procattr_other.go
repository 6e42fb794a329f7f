//go:build !linux

package testenv

import "syscall"

// endWithParent does nothing: only Linux can end a child with its parent. Close does.
func endWithParent() *syscall.SysProcAttr {
	return nil
}
