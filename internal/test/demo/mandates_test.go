package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// exampleMandates reads the Mandates of examples/mandates as the demo applies them.
func exampleMandates(t *testing.T, url string) map[string]v1alpha1.Mandate {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := copyManifests(dir, filepath.Join("..", "..", ".."), url); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	mandates := map[string]v1alpha1.Mandate{}
	connected := false
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		connected = connected || strings.Contains(string(content), "baseURL: "+url+"\n")
		documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
		for {
			var mandate v1alpha1.Mandate
			if err := documents.Decode(&mandate); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if mandate.Kind == "Mandate" {
				mandates[mandate.Name] = mandate
			}
		}
	}
	if !connected {
		t.Errorf("no manifest has the address of the sandbox, %s", url)
	}
	return mandates
}

func TestExpectationsFitTheExamples(t *testing.T) {
	mandates := exampleMandates(t, "http://127.0.0.1:4711")
	for name, mandate := range mandates {
		want, ok := expected[name]
		if !ok {
			t.Errorf("the demo has no expected outcome of %s", name)
		}
		emails := len(mandate.Spec.Individuals)
		if mandate.Spec.SuppressEmailNotification {
			emails = 0
		}
		if emails != want.emails {
			t.Errorf("%s e-mails %d people, the demo expects %d", name, emails, want.emails)
		}
	}
	if len(mandates) != len(expected) {
		t.Errorf("there are %d Mandates, the demo expects %d", len(mandates), len(expected))
	}
}
