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

// changed returns the rows that are not in an earlier table or say something else there.
func (t table) changed(earlier table) []string {
	before := map[string]bool{}
	for _, row := range earlier.rows {
		before[essence(row)] = true
	}
	var changed []string
	for _, row := range t.rows {
		if !before[essence(row)] {
			changed = append(changed, row)
		}
	}
	return changed
}

// essence is a row without what says nothing new: its age, which is the last column, and the width of the columns.
func essence(row string) string {
	words := strings.Fields(row)
	return strings.Join(words[:max(0, len(words)-1)], " ")
}
