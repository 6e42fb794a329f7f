// Package logging keeps personal data and secrets out of the operator's log.
package logging

import "github.com/go-logr/logr"

// maxVerbosity is the last level at which client-go logs no bodies. From 8 on it prints whole objects, and with them
// the personal data of Mandates and Secrets.
const maxVerbosity = 7

// WithoutBodies gives a logger that logs nothing above the level at which requests and answers would be printed,
// whatever level was asked for.
func WithoutBodies(logger logr.Logger) logr.Logger {
	return logger.WithSink(capped{logger.WithCallDepth(1).GetSink()}) // one more for the methods of capped
}

type capped struct{ logr.LogSink }

func (c capped) Enabled(level int) bool {
	return level <= maxVerbosity && c.LogSink.Enabled(level)
}

func (c capped) Info(level int, message string, keysAndValues ...any) {
	if level <= maxVerbosity {
		c.LogSink.Info(level, message, keysAndValues...)
	}
}

// Error is here so that it is as deep as Info.
func (c capped) Error(err error, message string, keysAndValues ...any) {
	c.LogSink.Error(err, message, keysAndValues...)
}

func (c capped) WithValues(keysAndValues ...any) logr.LogSink {
	return capped{c.LogSink.WithValues(keysAndValues...)}
}

func (c capped) WithName(name string) logr.LogSink {
	return capped{c.LogSink.WithName(name)}
}

// WithCallDepth implements logr.CallDepthLogSink.
func (c capped) WithCallDepth(depth int) logr.LogSink {
	if deeper, ok := c.LogSink.(logr.CallDepthLogSink); ok {
		return capped{deeper.WithCallDepth(depth)}
	}
	return c
}
