package plugin_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// krewPlugin is the part of krew's manifest that an index requires.
type krewPlugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		Homepage         string `json:"homepage"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			URI    string `json:"uri"`
			SHA256 string `json:"sha256"`
			Bin    string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// TestKrewManifest renders the manifest as the release does, and checks what krew's index requires of it.
func TestKrewManifest(t *testing.T) {
	const tag = "v1.2.3"
	source, err := os.ReadFile(filepath.Join(env.Root, ".krew.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	release := struct{ TagName string }{tag}
	render := func(text string) string {
		functions := template.FuncMap{"addURIAndSha": func(uri, tag string) string {
			uri = strings.ReplaceAll(uri, "{{ .TagName }}", tag)
			return "uri: " + uri + "\n    sha256: " + strings.Repeat("0", 64)
		}}
		var out bytes.Buffer
		if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&out, release); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	var p krewPlugin
	if err := yaml.UnmarshalStrict([]byte(render(string(source))), &p); err != nil {
		t.Fatal(err)
	}
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Spec.Version != tag {
		t.Errorf("%+v", p)
	}
	// krew runs kubectl-NAME as kubectl NAME, and its index takes short descriptions of 50 characters.
	if p.Metadata.Name != "mandate" || len(p.Spec.ShortDescription) > 50 || p.Spec.Description == "" {
		t.Errorf("name %q, short description %q", p.Metadata.Name, p.Spec.ShortDescription)
	}
	seen := map[string]bool{}
	for _, platform := range p.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		name := labels["os"] + "_" + labels["arch"]
		uri := regexp.MustCompile(`^https://\S+/` + tag + `/\S+_` + name + `\.tar\.gz$`)
		if seen[name] || platform.Bin != "kubectl-mandate" || !uri.MatchString(platform.URI) {
			t.Errorf("%s: %+v", name, platform)
		}
		seen[name] = true
	}
	if len(seen) != 4 {
		t.Errorf("platforms %v", seen)
	}
}
