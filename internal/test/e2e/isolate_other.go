//go:build !linux

package main

import (
	"errors"
	"io"
)

// The names of Linux that other files use.
const (
	cgroupVariable = ""
	cgroupMount    = ""
	scratch        = ""
	nodeName       = ""
	nodeAddress    = ""
)

func unsupported() error { return errors.New("a Kubernetes node needs Linux") }

func prepareMachine() error { return unsupported() }

func isolate(io.Writer, string) (int, error) { return 0, unsupported() }

func runAsInit([]string) (int, error) { return 0, unsupported() }
