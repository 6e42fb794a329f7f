package action

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops"
)

var update = flag.Bool("update", false, "write the section about actions in docs/status.md")

const (
	page = "../../docs/status.md"

	// heading is where the section begins that this test writes. The tests of the other controllers write the rest.
	heading = "\n## MandateAction\n"
	section = `
The table lists every reason of a MandateAction, with the same health checks and expressions as for Mandates. With them,
the tools do not wait for a report whose individual has not completed the checks. Without the expressions, Flux does.
[conditions.md](conditions.md#mandateaction) says what to do.

| situation | condition | kstatus | Argo CD | Flux |
|---|---|---|---|---|
`
)

// health is what the tools have to report.
type health struct {
	kstatus    status.Status
	argo, flux string
}

var (
	wantHealth = map[progress]health{
		progressing: {status.InProgressStatus, "Progressing", "InProgress"},
		complete:    {status.CurrentStatus, "Healthy", "Current"},
		failed:      {status.FailedStatus, "Degraded", "Failed"},
	}
	// wantWaiting is for actions that wait for people, which takes days.
	wantWaiting = map[string]health{
		v1alpha1.ReasonReportNotReady: {status.InProgressStatus, "Healthy", "Current"},
		v1alpha1.ReasonSuspended:      {status.InProgressStatus, "Suspended", "Current"},

		v1alpha1.ReasonCreationBudgetReached: {status.InProgressStatus, "Healthy", "Current"},
		v1alpha1.ReasonCreationSuspended:     {status.InProgressStatus, "Suspended", "Current"},
	}
)

// TestHealth checks what kstatus, Argo CD and Flux report for every reason, and writes the table for people.
func TestHealth(t *testing.T) {
	report := reporter(t)
	var table strings.Builder
	var covered []metav1.Condition
	unseen := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	unseen.Status.ObservedGeneration = -1
	check := func(name, condition string, action *v1alpha1.MandateAction, want health) {
		if got := report(action); got != want {
			t.Errorf("%s: the tools report %+v, want %+v", name, got, want)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", name, condition, want.kstatus, want.argo, want.flux)
	}
	check("not seen yet", "", unseen, wantHealth[progressing])
	for _, reason := range slices.Sorted(maps.Keys(conditionSpecs)) {
		spec := conditionSpecs[reason]
		action := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
		r := &reconciliation{action: action, facts: facts{now: time.Now(), emails: true}}
		r.statusFor(&action.Status, reason)
		want, waiting := wantWaiting[reason]
		if !waiting {
			want = wantHealth[spec.progress]
		}
		var conditions []string
		for _, c := range action.Status.Conditions {
			conditions, covered = append(conditions, c.Type), append(covered, c)
		}
		check(reason, strings.Join(conditions, ", "), action, want)
	}
	golden(t, table.String())
	explanation, err := os.ReadFile("../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	if untested := gitops.UntestedReasons(string(explanation), "MandateAction", covered); len(untested) > 0 {
		t.Errorf("docs/conditions.md has reasons without a row: %q", untested)
	}
	undocumented := gitops.UndocumentedConditions(string(explanation), "MandateAction", covered)
	if len(undocumented) > 0 {
		t.Errorf("docs/conditions.md does not have these conditions: %q", undocumented)
	}
}

func golden(t *testing.T, table string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(content), heading)
	want := before + heading + section + table
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(content) != want {
		t.Errorf("%s is not what the code makes: run make update", page)
	}
}

// reporter returns what the tools report of an action, with the examples' settings.
func reporter(t *testing.T) func(*v1alpha1.MandateAction) health {
	t.Helper()
	script, scriptErr := os.ReadFile("../../examples/gitops/argocd/health.lua")
	kustomization, err := os.ReadFile("../../examples/gitops/flux/mandates.yaml")
	if err = cmp.Or(scriptErr, err); err != nil {
		t.Fatal(err)
	}
	flux, err := gitops.FluxHealth(kustomization, "MandateAction")
	if err != nil {
		t.Fatal(err)
	}
	return func(action *v1alpha1.MandateAction) (got health) {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(action)
		if err != nil {
			t.Fatal(err)
		}
		got.kstatus = kstatus(t, action)
		if got.argo, err = gitops.ArgoCDHealth(string(script), object); err != nil {
			t.Fatal(err)
		}
		if got.flux, err = flux(object); err != nil {
			t.Fatal(err)
		}
		return got
	}
}
