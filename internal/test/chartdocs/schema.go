package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// describe sets the description of a value in the schema.
func describe(schema *yaml.Node, v value) error {
	at := schema
	for _, name := range v.path {
		properties := member(at, "properties")
		if properties == nil || member(properties, name) == nil {
			return fmt.Errorf("%s is in values.yaml only", strings.Join(v.path, "."))
		}
		at = member(properties, name)
	}
	text := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v.description}
	for i := 0; i < len(at.Content); i += 2 {
		if at.Content[i].Value == "description" {
			at.Content[i+1] = text
			return nil
		}
	}
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "description"}
	at.Content = append([]*yaml.Node{key, text}, at.Content...)
	return nil
}

// member is what an object has under a name, or nil.
func member(object *yaml.Node, name string) *yaml.Node {
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			return object.Content[i+1]
		}
	}
	return nil
}

// width is how long a line of JSON may be before its members get lines of their own.
const width = 120

// encode writes JSON in the order of the nodes. What fits into a line is on one.
func encode(node *yaml.Node, indent string) string {
	open, closing := "[", "]"
	inner, members := indent+"  ", []string{}
	switch node.Kind {
	case yaml.MappingNode:
		open, closing = "{", "}"
		for i := 0; i < len(node.Content); i += 2 {
			members = append(members, encode(node.Content[i], "")+": "+encode(node.Content[i+1], inner))
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			members = append(members, encode(item, inner))
		}
	default:
		return scalar(node)
	}
	short := open + strings.Join(members, ", ") + closing
	if len(indent)+len(short) <= width && !strings.Contains(short, "\n") {
		return short
	}
	return open + "\n" + inner + strings.Join(members, ",\n"+inner) + "\n" + indent + closing
}

func scalar(node *yaml.Node) string {
	if node.Tag != "!!str" {
		return node.Value
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(node.Value); err != nil {
		panic(err) // a string can be encoded
	}
	return strings.TrimSuffix(text.String(), "\n")
}
