package operator

import "github.com/go-logr/logr"

// maxVerbosity is the last level at which client-go logs no bodies. From 8 on it prints whole objects, and with them the
// personal data of Mandates and Secrets.
const maxVerbosity = 7

// WithoutBodies gives a logger that logs nothing above the level at which requests and answers would be printed,
// whatever level was asked for.
func WithoutBodies(logger logr.Logger) logr.Logger {
	return logger.WithSink(capped{logger.GetSink()})
}

type capped struct{ logr.LogSink }

func (c capped) Init(info logr.RuntimeInfo) {
	info.CallDepth++ // for the methods of this type
	c.LogSink.Init(info)
}

func (c capped) Enabled(level int) bool {
	return level <= maxVerbosity && c.LogSink.Enabled(level)
}

func (c capped) Info(level int, message string, keysAndValues ...any) {
	if level <= maxVerbosity {
		c.LogSink.Info(level, message, keysAndValues...)
	}
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
