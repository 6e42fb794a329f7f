package config

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// followsNotes runs the commands that helm printed as the next ones, as a user who pastes them. No Pod starts here, and
// nobody watches.
func (c *cluster) followsNotes(output string) {
	c.Helper()
	_, notes, found := strings.Cut(output, "NOTES:\n")
	var script strings.Builder
	manifest := false
	for line := range strings.Lines(notes) {
		waits := strings.Contains(line, "rollout status") || strings.Contains(line, "--watch")
		if manifest || strings.HasPrefix(line, "kubectl ") && !waits {
			script.WriteString(line)
		}
		manifest = strings.HasSuffix(line, "<<EOF\n") || manifest && line != "EOF\n"
	}
	command := exec.CommandContext(c.Context(), "sh", "-eu")
	command.Stdin = strings.NewReader(script.String())
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "KUBECACHEDIR="+c.cache(),
		"PATH="+filepath.Dir(c.Kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if answer, err := command.CombinedOutput(); err != nil || !found {
		c.Fatalf("the next commands fail: %v\n%s\n%s", err, answer, script.String())
	}
	if got := c.names("mandates,identityservices,secrets", "--namespace=onboarding"); !slices.Equal(got,
		[]string{"first", "default", "director", "idv"}) {
		c.Errorf("the next commands created %q", got)
	}
}

// What the notes say depends on the values.
func TestNotesOfChart(t *testing.T) {
	for values, want := range map[string][]string{
		"replicas=1":                       {"replicas is 1:"},
		"metrics.secure=false":             {"metrics.secure is false:"},
		"watchNamespaces={team-a}":         {"idv --namespace team-a", "these namespaces only"},
		"allowedHosts={idv.example.org}":   {`baseURL: "https://idv.example.org"`},
		"allowedHosts={*.example.org}":     {`baseURL: "https://idv.example.com"`},
		"fullnameOverride=idv,replicas=10": {"deployment/idv --namespace " + operatorNamespace},
	} {
		t.Run(values, func(t *testing.T) {
			t.Parallel()
			c := in(t, env)
			output := c.helm("install", "test", operatorChart, "--dry-run=client", "--set="+values)
			_, notes, _ := strings.Cut(output, "NOTES:\n")
			for _, text := range want {
				if !strings.Contains(notes, text) {
					t.Errorf("the notes have no %q\n%s", text, notes)
				}
			}
			if warns := strings.Contains(notes, "replicas is"); warns != (values == "replicas=1") {
				t.Errorf("a warning about replicas: %t\n%s", warns, notes)
			}
		})
	}
}
