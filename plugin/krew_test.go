package plugin_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
			SHA256 string `json:"sha256"`
			krewArchive
		} `json:"platforms"`
	} `json:"spec"`
}

// A krewArchive is one archive of the release, with the program in it.
type krewArchive struct {
	URI string `json:"uri"`
	Bin string `json:"bin"`
}

// releaseConfig is the part of .goreleaser.yaml that names archives.
type releaseConfig struct {
	Builds []struct {
		ID      string   `json:"id"`
		Binary  string   `json:"binary"`
		Targets []string `json:"targets"`
	} `json:"builds"`
	Archives []struct {
		IDs       []string `json:"ids"`
		Formats   []string `json:"formats"`
		Overrides []struct {
			OS      string   `json:"goos"`
			Formats []string `json:"formats"`
		} `json:"format_overrides"`
		NameTemplate string `json:"name_template"`
	} `json:"archives"`
	Release struct {
		GitHub struct {
			Owner string `json:"owner"`
			Name  string `json:"name"`
		} `json:"github"`
	} `json:"release"`
}

const tag = "v1.2.3"

// TestKrewManifest renders the manifest as the release does, and checks what krew's index requires of it, and that it
// has all archives of the plugin that .goreleaser.yaml makes.
func TestKrewManifest(t *testing.T) {
	functions := template.FuncMap{"addURIAndSha": func(uri, tag string) string {
		uri = strings.ReplaceAll(uri, "{{ .TagName }}", tag)
		return "uri: " + uri + "\n    sha256: " + strings.Repeat("0", 64)
	}}
	rendered := render(t, rootFile(t, ".krew.yaml"), functions, struct{ TagName string }{tag})
	var p krewPlugin
	if err := yaml.UnmarshalStrict([]byte(rendered), &p); err != nil {
		t.Fatal(err)
	}
	if p.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || p.Kind != "Plugin" || p.Spec.Version != tag {
		t.Errorf("%+v", p)
	}
	// krew runs kubectl-NAME as kubectl NAME, and its index takes short descriptions of 50 characters.
	if p.Metadata.Name != "mandate" || len(p.Spec.ShortDescription) > 50 || p.Spec.Description == "" {
		t.Errorf("name %q, short description %q", p.Metadata.Name, p.Spec.ShortDescription)
	}
	got := map[string]krewArchive{}
	for _, platform := range p.Spec.Platforms {
		labels := platform.Selector.MatchLabels
		got[labels["os"]+"_"+labels["arch"]] = platform.krewArchive
	}
	if want := released(t); len(want) == 0 || len(p.Spec.Platforms) != len(want) || !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// released are the archives of the plugin that .goreleaser.yaml makes, by platform.
func released(t *testing.T) map[string]krewArchive {
	t.Helper()
	var config releaseConfig
	if err := yaml.Unmarshal([]byte(rootFile(t, ".goreleaser.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	github, archives := config.Release.GitHub, map[string]krewArchive{}
	for _, build := range config.Builds {
		for _, archive := range config.Archives {
			if build.Binary != "kubectl-mandate" || !slices.Contains(archive.IDs, build.ID) {
				continue
			}
			for _, target := range build.Targets {
				system, arch, _ := strings.Cut(target, "_")
				format, program := archive.Formats[0], build.Binary
				for _, override := range archive.Overrides {
					if override.OS == system {
						format = override.Formats[0]
					}
				}
				if system == "windows" {
					program += ".exe"
				}
				name := render(t, archive.NameTemplate, nil, map[string]string{
					"Binary": build.Binary, "Version": strings.TrimPrefix(tag, "v"), "Os": system, "Arch": arch,
				})
				archives[target] = krewArchive{
					"https://github.com/" + github.Owner + "/" + github.Name + "/releases/download/" + tag + "/" + name + "." + format,
					program,
				}
			}
		}
	}
	return archives
}

func rootFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(env.Root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func render(t *testing.T, text string, functions template.FuncMap, data any) string {
	t.Helper()
	var out bytes.Buffer
	if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&out, data); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
