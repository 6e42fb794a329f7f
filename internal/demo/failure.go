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

// failure is an error with the log that may tell why.
type failure struct {
	error
	log string
}

// Unwrap gives the error.
func (f failure) Unwrap() error {
	return f.error
}

// blameOperator makes an error, if it is one, a failure with the operator's log.
func (d *demo) blameOperator(err error) error {
	if err == nil {
		return nil
	}
	return failure{err, d.operator.Log}
}

// sayFailure prints an error, the end of its log, and where all logs are from now on: their directory is removed.
func (d *demo) sayFailure(err error) {
	var lines []string
	if rows := d.screen.table.lines(); len(rows) > 0 {
		lines = append([]string{""}, rows...)
	}
	lines = append(lines, "", strings.TrimSpace(err.Error()))
	if f := (failure{}); errors.As(err, &f) {
		lines = append(lines, "", "The end of "+filepath.Base(f.log)+":")
		lines = append(lines, tail(f.log)...)
	}
	kept, err := keepLogs(d.Dir)
	if err != nil {
		lines = append(lines, "", "The logs could not be kept: "+err.Error())
	} else {
		lines = append(lines, "", "All logs are in "+kept)
	}
	d.screen.print(lines...)
}

// tail is the last lines of a log, each cut to a readable length.
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
		if err := os.WriteFile(filepath.Join(kept, filepath.Base(log)), content, 0o600); err != nil { //nolint:gosec // our own directories
			return "", fmt.Errorf("copying %s: %w", log, err)
		}
	}
	return kept, nil
}
