package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	valuesYAML = `# Number of Pods.
replicas: 2
image:
  # Tag. Empty: the version,
  # or | none.
  tag: ""
# Resources.
resources: {limits: {memory: 256Mi}, requests: {memory: 64Mi}}
`
	valuesSchema = `{"type": "object", "properties": {
"replicas": {"type": "integer"},
"image": {"type": "object", "properties": {"tag": {"description": "old", "pattern": "^<a>$"}}},
"resources": {"type": "object"}}}`
)

func chart(t *testing.T, values, schema string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"values.yaml": values, "values.schema.json": schema, "README.md.tmpl": "# Chart\n\n{{ values }}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRun(t *testing.T) {
	out := t.TempDir()
	if err := run(chart(t, valuesYAML, valuesSchema), out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"README.md": "# Chart\n\n| value | default | what it does |\n|---|---|---|\n" +
			"| `replicas` | `2` | Number of Pods. |\n" +
			"| `image.tag` | `\"\"` | Tag. Empty: the version, or \\| none. |\n" +
			"| `resources` | see values.yaml | Resources. |\n",
		"values.schema.json": `{
  "type": "object",
  "properties": {
    "replicas": {"description": "Number of Pods.", "type": "integer"},
    "image": {
      "type": "object",
      "properties": {"tag": {"description": "Tag. Empty: the version, or | none.", "pattern": "^<a>$"}}
    },
    "resources": {"description": "Resources.", "type": "object"}
  }
}
`,
	} {
		got, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v, got:\n%s\nwant:\n%s", name, err, got, want)
		}
	}
	if err := run(chart(t, valuesYAML, writtenSchema(t, out)), t.TempDir()); err != nil {
		t.Errorf("what it wrote cannot be read: %v", err)
	}
}

func writtenSchema(t *testing.T, dir string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestRunRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ values, schema, want string }{
		"a value without a comment": {"a: 1\n", valuesSchema, "a has no comment"},
		"a value without a schema":  {"# A.\na: 1\n", valuesSchema, "a is in values.yaml only"},
		"no object":                 {"[]", valuesSchema, "want one object"},
		"no YAML":                   {"{", valuesSchema, "values.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run(chart(t, tc.values, tc.schema), t.TempDir())
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one that says %q", err, tc.want)
			}
		})
	}
}
