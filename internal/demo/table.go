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
	for _, row := range earlier.rows {
		before[comparableRow(row)] = true
	}
	var changed []string
	for _, row := range t.rows {
		if !before[comparableRow(row)] {
			changed = append(changed, row)
		}
	}
	return changed
}

// comparableRow is a row without its age, which is the last column, and the padding of the columns.
func comparableRow(row string) string {
	words := strings.Fields(row)
	return strings.Join(words[:max(0, len(words)-1)], " ")
}
