package main

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// table lists the values in Markdown, with their defaults.
func table(values []value) string {
	var rows strings.Builder
	rows.WriteString("| value | default | what it does |\n|---|---|---|\n")
	for _, v := range values {
		rows.WriteString("| `" + strings.Join(v.path, ".") + "` | " + defaultOf(v.byDefault) + " | " +
			strings.ReplaceAll(v.description, "|", `\|`) + " |\n")
	}
	return rows.String()
}

// defaultOf writes a default as one would after --set-json, without quotes around texts. Large ones are in values.yaml.
func defaultOf(node *yaml.Node) string {
	const longest = 40
	text := encode(node, "")
	switch {
	case node.Tag == "!!str" && node.Value != "":
		text = node.Value
	case len(text) > longest || strings.Contains(text, "\n"):
		return "see values.yaml"
	}
	return "`" + text + "`"
}
