package await

import (
	"runtime"
	"syscall"
	"time"
)

const (
	sample       = 50 * time.Millisecond // of the processor
	rusageThread = 1                     // which syscall does not name
)

// Slowdown is how many times longer work takes now than on a machine without other work, and at least 1. It works for a
// moment, and compares the time that passes with the time that it has the processor.
func Slowdown() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, before := time.Now(), processorTime()
	for processorTime()-before < sample {
	}
	return max(1, float64(time.Since(began))/float64(processorTime()-before))
}

// processorTime is that of this thread.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &usage); err != nil {
		panic(err) // the kernel knows it since 2.6.26
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
