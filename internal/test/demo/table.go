package main

import "strings"

// table is what `kubectl get mandates` prints.
type table struct {
	header string
	rows   []string
}

func parseTable(printed string) table {
	lines := strings.Split(strings.TrimRight(printed, "\n"), "\n")
	if lines[0] == "" {
		return table{}
	}
	return table{lines[0], lines[1:]}
}

func (t table) lines() []string {
	if t.header == "" {
		return nil
	}
	return append([]string{t.header}, t.rows...)
}

// changed returns the rows that are new or differ from an earlier table.
func (t table) changed(earlier table) []string {
	before := map[string]bool{}
	for _, line := range earlier.rows {
		before[comparableRow(line)] = true
	}
	var changed []string
	for _, line := range t.rows {
		if !before[comparableRow(line)] {
			changed = append(changed, line)
		}
	}
	return changed
}

// comparableRow is a row without its age, which is the last column, and the padding of the columns.
func comparableRow(line string) string {
	words := strings.Fields(line)
	return strings.Join(words[:max(0, len(words)-1)], " ")
}
