package explore

import "github.com/go-logr/logr"

// LogCounter is a log that counts messages, but not those for debugging.
type LogCounter struct{ Messages int }

// Init implements logr.LogSink.
func (*LogCounter) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (*LogCounter) Enabled(level int) bool { return level == 0 }

// Info implements logr.LogSink.
func (c *LogCounter) Info(int, string, ...any) { c.Messages++ }

// Error implements logr.LogSink.
func (c *LogCounter) Error(error, string, ...any) { c.Messages++ }

// WithValues implements logr.LogSink.
func (c *LogCounter) WithValues(...any) logr.LogSink { return c }

// WithName implements logr.LogSink.
func (c *LogCounter) WithName(string) logr.LogSink { return c }
