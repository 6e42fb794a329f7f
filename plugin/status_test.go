package plugin

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mandate-io/idv/api/v1alpha1"
)

var update = flag.Bool("update", false, "write testdata/*.golden")

// fixedNow is the clock of the tests.
func fixedNow() time.Time { return time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC) }

// secret is the personal data in the objects of the tests.
const secret = "Jane.Doe.1990@example.com"

// TestStatusOfEveryReason shows the tree of an object with each reason of docs/conditions.md. A reason that is added to
// the page has no text here, so the test fails until somebody has read it: go test ./plugin -run Reason -update.
func TestStatusOfEveryReason(t *testing.T) {
	shown := map[string]*strings.Builder{}
	for i := range explanations {
		e := &explanations[i]
		out := &bytes.Buffer{}
		s := &session{Streams: Streams{Out: out, ErrOut: out}, now: fixedNow}
		v := newView(factsFor(t, e))
		if err := s.show([]view{v}, &outputFlag{}, true); err != nil {
			t.Fatal(err)
		}
		if shown[e.Kind] == nil {
			shown[e.Kind] = &strings.Builder{}
		}
		fmt.Fprintf(shown[e.Kind], "=== %s\n\n%s\n", e.Reason, out)
		// These two say that another reason says it, and the names of those who are waited for say more.
		indirect := e.Reason == "Creating" || e.Reason == "InProgress"
		if !indirect && len(e.Steps) > 0 && !strings.Contains(squeeze(out.String()), squeeze(e.Steps[0])) {
			t.Errorf("%s %s: the text does not say what to do: %s", e.Kind, e.Reason, out)
		}
		if strings.Contains(out.String(), secret) || placeholder.MatchString(out.String()) {
			t.Errorf("%s %s: personal data, or a placeholder: %s", e.Kind, e.Reason, out)
		}
		if strings.HasSuffix(strings.TrimSpace(out.String()), "What to do next") {
			t.Errorf("%s %s: nothing says what to do: %s", e.Kind, e.Reason, out)
		}
		if !strings.Contains(out.String(), e.Reason) {
			t.Errorf("%s %s: the reason is not shown: %s", e.Kind, e.Reason, out)
		}
	}
	for kind, text := range shown {
		compareGolden(t, "status-"+kind+".golden", text.String())
	}
	if len(shown) != 3 {
		t.Errorf("%d kinds, want 3", len(shown))
	}
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; look at it, and then run: go test ./plugin -update\n%s", name, diff)
	}
}

func squeeze(text string) string { return strings.Join(strings.Fields(text), "") }

// The commands name the namespace of the operator, or what a shell replaces by it.
func TestCommandsNameTheNamespaceOfTheOperator(t *testing.T) {
	known := scheme()
	if err := appsv1.AddToScheme(known); err != nil {
		t.Fatal(err)
	}
	c := &cluster{WithWatch: fake.NewClientBuilder().WithScheme(known).Build()}
	if got := c.operatorNamespace(t.Context()); got != "" {
		t.Errorf("%q without an operator", got)
	}
	operator := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "identity", Name: "idv", Labels: map[string]string{operatorLabel: operatorName},
	}}
	f := mandateFacts(t, v1alpha1.ReasonRetrying)
	if err := c.Create(t.Context(), operator); err != nil {
		t.Fatal(err)
	}
	f.operator = c.operatorNamespace(t.Context())
	for namespace, f := range map[string]facts{"identity": f, defaultOperatorNamespace: {mandate: f.mandate}} {
		v := newView(f)
		if want := "kubectl logs -n " + namespace + " -l "; !strings.HasPrefix(v.Next[0].Commands[0], want) {
			t.Errorf("%q, want %s", v.Next[0].Commands, want)
		}
	}
	another := operator.DeepCopy()
	another.Namespace, another.ResourceVersion = "onboarding", ""
	if err := c.Create(t.Context(), another); err != nil {
		t.Fatal(err)
	}
	if got := c.operatorNamespace(t.Context()); got != "" {
		t.Errorf("%q with two operators", got)
	}
}
