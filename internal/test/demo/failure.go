package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	tailLines = 12
	tailWidth = 240
)

// failure is an error with the log that may explain it.
type failure struct {
	error
	log string
}

// Unwrap returns the error.
func (f failure) Unwrap() error {
	return f.error
}

// withOperatorLog returns nil for nil, and else a failure with the operator's log.
func (d *demo) withOperatorLog(err error) error {
	if err == nil {
		return nil
	}
	return failure{err, d.operator.Log}
}

// printFailure prints an error, the last part of its log, and the directory with copies of all logs.
func (d *demo) printFailure(err error) {
	var lines []string
	if rows := d.screen.table.lines(); len(rows) > 0 {
		lines = append([]string{""}, rows...)
	}
	lines = append(lines, "", strings.TrimSpace(err.Error()))
	if f := (failure{}); errors.As(err, &f) {
		lines = append(lines, "", "The last lines of "+filepath.Base(f.log)+":")
		lines = append(lines, tail(f.log)...)
	}
	kept, err := keepLogs(d.Dir)
	if err != nil {
		lines = append(lines, "", "Failed to copy the logs: "+err.Error())
	} else {
		lines = append(lines, "", "All logs are in "+kept)
	}
	d.screen.print(lines...)
}

// tail is the last lines of a log, each truncated to a readable length.
func tail(log string) []string {
	content, err := os.ReadFile(log)
	if err != nil {
		return []string{err.Error()}
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	for i, line := range lines {
		if len(line) > tailWidth {
			line = line[:tailWidth] + "..."
		}
		lines[i] = "  " + line
	}
	return lines
}

// keepLogs copies the logs of a directory into a new one.
func keepLogs(dir string) (string, error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return "", err
	}
	kept, err := os.MkdirTemp("", "idv-demo-logs-")
	if err != nil {
		return "", err
	}
	for _, log := range logs {
		content, err := os.ReadFile(log)
		if err != nil {
			return "", err
		}
		to := filepath.Join(kept, filepath.Base(log))
		if err := os.WriteFile(to, content, 0o600); err != nil {
			return "", fmt.Errorf("copy %s: %w", log, err)
		}
	}
	return kept, nil
}
