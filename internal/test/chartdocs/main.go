// Command chartdocs writes what the README and the schema of a Helm chart say about its values. The comments in
// values.yaml are their one source.
//
//	chartdocs CHART OUT
//
// It reads values.yaml, values.schema.json and README.md.tmpl in the directory CHART, and writes the schema with
// descriptions, and README.md, into OUT.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: chartdocs CHART OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "chartdocs:", err)
		os.Exit(1)
	}
}

func run(chart, out string) error {
	values, err := read(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	schema, err := read(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		return err
	}
	readme, err := os.ReadFile(filepath.Join(chart, "README.md.tmpl"))
	if err != nil {
		return err
	}
	found, err := collect(values, nil)
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	for _, v := range found {
		if err := describe(schema, v); err != nil {
			return fmt.Errorf("values.schema.json: %w", err)
		}
	}
	text := strings.Replace(string(readme), "{{ values }}\n", table(found), 1)
	return errors.Join(
		os.WriteFile(filepath.Join(out, "values.schema.json"), []byte(encode(schema, "")+"\n"), 0o600),
		os.WriteFile(filepath.Join(out, "README.md"), []byte(text), 0o600),
	)
}

// read parses YAML, which JSON is too, and keeps the order of members.
func read(name string) (*yaml.Node, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	document := &yaml.Node{}
	if err := yaml.Unmarshal(content, document); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: want one object", name)
	}
	return document.Content[0], nil
}

// A value is a member of values.yaml with a comment.
type value struct {
	path        []string
	description string
	byDefault   *yaml.Node
}

// collect gives the values with comments. One without a comment has members with comments.
func collect(object *yaml.Node, path []string) ([]value, error) {
	var found []value
	for i := 0; i < len(object.Content); i += 2 {
		key, content := object.Content[i], object.Content[i+1]
		at := slices.Concat(path, []string{key.Value})
		switch {
		case key.HeadComment != "":
			found = append(found, value{at, plain(key.HeadComment), content})
		case content.Kind == yaml.MappingNode && len(content.Content) > 0:
			members, err := collect(content, at)
			if err != nil {
				return nil, err
			}
			found = append(found, members...)
		default:
			return nil, fmt.Errorf("%s has no comment", strings.Join(at, "."))
		}
	}
	return found, nil
}

// plain is a comment as one line.
func plain(comment string) string {
	words := strings.FieldsFunc(comment, func(r rune) bool { return r == '\n' || r == ' ' })
	for i, word := range words {
		if word == "#" {
			words[i] = ""
		}
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}
