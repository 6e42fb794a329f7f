package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// make e2e runs what the pages say, so they must have it where make e2e looks.
func TestDocumentedCommands(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := readmeBlocks(string(page), "Install", "Your first Mandate")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.language + "\n" + b.text)
		if b.language == "yaml" && !strings.HasPrefix(b.text, "apiVersion:") {
			t.Errorf("a manifest is indented:\n%s", b.text)
		}
	}
	for _, want := range []string{
		"helm install " + operatorName + " ", operatorImage, "image.tag=" + docsTag,
		"kind: Namespace\nmetadata: {name: " + readmeNamespace + "}", "https://" + readmeHost,
		"username: " + username, "password: " + password, "kind: Mandate\n",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("README lacks %q", want)
		}
	}
	if _, err := readmeBlocks(string(page), "No such section"); err == nil {
		t.Error("a section that is missing is not noticed")
	}
}

func TestOneEach(t *testing.T) {
	jane, joe := control.Email{Address: "jane@example.com"}, control.Email{Address: "joe@example.com"}
	for name, tc := range map[string]struct {
		emails []control.Email
		right  bool
	}{
		"one to each":       {[]control.Email{jane, joe}, true},
		"a second one":      {[]control.Email{jane, joe, jane}, false},
		"none to one":       {[]control.Email{jane}, false},
		"two to one of two": {[]control.Email{jane, jane}, false},
	} {
		if err := oneEach(tc.emails, 2); (err == nil) != tc.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOwnApplications(t *testing.T) {
	mandate := v1alpha1.Mandate{
		ObjectMeta: metav1.ObjectMeta{Name: "acme"},
		Status:     v1alpha1.MandateStatus{ApplicationID: new(int64(7)), Reference: "ns.acme"},
	}
	unbound := *mandate.DeepCopy()
	unbound.Status.ApplicationID = nil
	own, other := control.Application{ID: 7, Reference: "ns.acme"}, control.Application{ID: 8, Reference: "ns.acme"}
	for name, tc := range map[string]struct {
		mandate      v1alpha1.Mandate
		applications []control.Application
		right        bool
	}{
		"its own":         {mandate, []control.Application{own}, true},
		"a second one":    {mandate, []control.Application{own, other}, false},
		"another one":     {mandate, []control.Application{other}, false},
		"none":            {mandate, nil, false},
		"one, not bound":  {unbound, []control.Application{own}, false},
		"another's, at 7": {mandate, []control.Application{{ID: 7, Reference: "ns.globex"}}, false},
	} {
		if err := ownApplications([]v1alpha1.Mandate{tc.mandate}, tc.applications); (err == nil) != tc.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLogsWithAddresses(t *testing.T) {
	for name, tc := range map[string]struct {
		pod, log string
		right    bool
	}{
		"no address":                     {operatorNamespace + "_a_1", "created ns.acme\n", true},
		"an address":                     {operatorNamespace + "_a_1", "created load-0001" + emailHost + "\n", false},
		"an address of README's example": {operatorNamespace + "_a_1", "created jane@example.com\n", false},
		"no log of the operator":         {sandboxNamespace + "_a_1", "created\n", false},
	} {
		s := &scenario{node: &node{Environment: &testenv.Environment{Dir: t.TempDir()}}}
		directory := filepath.Join(s.podLogs(), tc.pod, "manager")
		if err := os.MkdirAll(directory, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, "0.log"), []byte(tc.log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.checkLogs(); (err == nil) != tc.right {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStepsEndAtTheFirstFailure(t *testing.T) {
	ran, broken := "", errors.New("broken")
	work := func(name string, err error) step {
		return step{name, name, func(context.Context) (string, error) {
			ran += name
			return "", err
		}}
	}
	err := runSteps(t.Context(), []step{work("a", nil), work("b", broken), work("c", nil)})
	if !errors.Is(err, broken) || ran != "ab" {
		t.Errorf("%v after %q", err, ran)
	}
}

func TestOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		steps, count, timeout string
		want                  string // the steps that run
		wrong                 string
	}{
		"all":           {want: "nodeinstallexample"},
		"one":           {steps: "install", count: "20", timeout: "90m", want: "nodeinstall"},
		"two":           {steps: "example install", want: "nodeinstallexample"},
		"no such step":  {steps: "installs", wrong: `"installs", which is no step`},
		"no count":      {count: "0", wrong: "COUNT is"},
		"no number":     {count: "many", wrong: "COUNT is"},
		"no unit":       {timeout: "90", wrong: "TIMEOUT is"},
		"time that was": {timeout: "-1s", wrong: "TIMEOUT is"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("STEPS", tc.steps)
			t.Setenv("COUNT", tc.count)
			t.Setenv("TIMEOUT", tc.timeout)
			o, err := newOptions()
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Fatalf("%v, want %q", err, tc.wrong)
				}
				return
			}
			got := ""
			for _, s := range o.selected([]step{{name: "node"}, {"install", "install", nil}, {"example", "example", nil}}) {
				got += s.name
			}
			if err != nil || got != tc.want {
				t.Errorf("%v: %q run, want %q", err, got, tc.want)
			}
		})
	}
}

func TestParseProcess(t *testing.T) {
	cgroups := parseCgroups("4:memory:/kubepods/pod1/c\n3:cpu,cpuacct:/x\n0::/y\n")
	for controller, want := range map[string]string{"memory": "/kubepods/pod1/c", "cpuacct": "/x", "": "/y"} {
		if got := cgroups[controller]; got != want {
			t.Errorf("the cgroup of %q is %q, want %q", controller, got, want)
		}
	}
	if got := parseStatus("Name:\toperator\nUid:\t65532\t65532\t65532\t0\n")["Uid"]; got != "65532 65532 65532 0" {
		t.Errorf("Uid is %q", got)
	}
	const mounts = "707 556 0:59 / / %s,relatime - overlay overlay rw\n708 707 0:60 / /tmp ro,nosuid - tmpfs tmpfs ro\n"
	for option, want := range map[string]bool{"ro": true, "rw": false} {
		if got := readOnlyRoot.MatchString(strings.Replace(mounts, "%s", option, 1)); got != want {
			t.Errorf("the root is %s: %t", option, got)
		}
	}
}
