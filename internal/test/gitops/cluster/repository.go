package cluster

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// MandatesDir has the files of the Mandates in the repository.
const MandatesDir = "onboarding/mandates/"

func filesBelow(t *testing.T, directory string) map[string]string {
	t.Helper()
	files := map[string]string{}
	tree := os.DirFS(directory)
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, name)
		files[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// ReplaceAndPublish replaces text in a file of the Mandates, and publishes it.
func (c *Cluster) ReplaceAndPublish(name, old, replacement string) {
	c.Helper()
	c.Replace(name, old, replacement)
	c.Publish()
}

// Replace replaces text in a file of the Mandates.
func (c *Cluster) Replace(name, old, replacement string) {
	c.Helper()
	path := MandatesDir + name
	if !strings.Contains(c.Files[path], old) {
		c.Fatalf("%s has no %q", path, old)
	}
	c.Files[path] = strings.Replace(c.Files[path], old, replacement, 1)
}

// Initech is a Mandate that the examples do not have. It has its individual in Git, and no e-mail is sent.
const Initech = `apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata:
  name: initech
spec:
  mandateType:
    code: identity
  suppressEmailNotification: true
  individuals:
  - name: tenant
    email: tenant@initech.example
`
