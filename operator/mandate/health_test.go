package mandate

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/test/gitops"
)

var update = flag.Bool("update", false, "write docs/status.md and examples/gitops/argocd/argocd-cm.yaml")

const root = "../../"

// internalReasons show as others.
var internalReasons = []string{reasonVanished, reasonOtherAccount}

// situations are all the statuses that a Mandate can have, with the health that GitOps tools have to see in them.
func situations() map[string]situation {
	all := map[string]situation{
		"0 not seen yet": {
			mandate: situated(func(m *v1alpha1.Mandate) { m.Status.ObservedGeneration = -1 }),
			health:  "Progressing",
		},
		"0 edited, and not seen yet": {mandate: edited(), health: "Progressing"},
		"1 waits for people": shown(
			v1alpha1.ReasonAccepted,
			func(f *facts) { f.application.stage = lifecycle.Open },
			"Healthy",
		),
		"1 waits for people, and was adopted": {mandate: adopted(), health: "Healthy"},
		"2 completed": shown(
			v1alpha1.ReasonAccepted,
			func(f *facts) { f.application.stage = lifecycle.Completed },
			"Healthy",
		),
		"2 rejected": shown(
			v1alpha1.ReasonAccepted,
			func(f *facts) { f.application.stage = lifecycle.Rejected },
			"Healthy",
		),
		"2 a decision waits": shown(
			v1alpha1.ReasonAccepted, func(f *facts) { f.act.decision = completeSeen }, "Healthy",
		),
		"2 completed, as decided": shown(
			v1alpha1.ReasonAccepted,
			func(f *facts) { f.application.stage, f.act.decision = lifecycle.Completed, completeSeen },
			"Healthy",
		),
		"2 completed, and decided otherwise": shown(
			v1alpha1.ReasonAccepted,
			func(f *facts) { f.application.stage, f.act.decision = lifecycle.Completed, rejectSeen },
			"Healthy",
		),
		"2 the decision was refused": shown(
			v1alpha1.ReasonDecisionRefused,
			func(f *facts) { f.act.decision, f.record = completeSeen, logged(completeCall, v1alpha1.CallRefused, 0) },
			"Degraded",
		),
		"2 what became of the decision is unknown": shown(
			v1alpha1.ReasonDecisionUnknown,
			func(f *facts) { f.act.decision, f.record = completeSeen, logged(completeCall, v1alpha1.CallUnknown, 2) },
			"Degraded",
		),
		"2 a review was refused": shown(
			v1alpha1.ReasonReviewRefused,
			func(f *facts) {
				f.application.reviews, f.record = reviews()[:1], logged(firstReview, v1alpha1.CallRefused, 0)
			},
			"Degraded",
		),
		"2 a review is outdated": shown(
			v1alpha1.ReasonReviewOutdated,
			func(f *facts) { f.application.reviewOutdated = true },
			"Degraded",
		),
		"3 expired at the service": shown(
			reasonVanished,
			func(f *facts) { f.createdTime = now.Add(-retention) },
			"Degraded",
		),
		"3 deleted at the service": shown(
			reasonVanished,
			func(f *facts) { f.createdTime = now.Add(-time.Hour) },
			"Degraded",
		),
		"4 another account, before creation": shown(reasonOtherAccount, unknownID, "Degraded"),
		"4 another account, afterwards":      shown(reasonOtherAccount, func(*facts) {}, "Degraded"),
		"4 suspended before creation":        suspended(shown(v1alpha1.ReasonSuspended, unknownID, "Suspended")),
		"4 suspended afterwards":             suspended(shown(v1alpha1.ReasonSuspended, func(*facts) {}, "Suspended")),
	}
	for reason, v := range conditionSpecs {
		change := unknownID
		if v.created == metav1.ConditionTrue {
			change = func(*facts) {}
		}
		health := map[progress]string{reconciling: "Progressing", stalled: "Degraded"}[v.progress]
		switch reason { // what an intended limit, or the brake, holds back keeps no pipeline waiting
		case v1alpha1.ReasonCreationBudgetReached:
			health = "Healthy"
		case v1alpha1.ReasonCreationSuspended:
			health = "Suspended"
		}
		if health != "" && !slices.Contains(internalReasons, reason) {
			all["5 "+reason] = shown(reason, change, health)
		}
	}
	return all
}

type situation struct {
	mandate *v1alpha1.Mandate
	health  string
}

func unknownID(f *facts) {
	f.id = 0
	f.bound = false
	f.application = applicationFacts{}
}

func situated(change func(*v1alpha1.Mandate)) *v1alpha1.Mandate {
	m := &v1alpha1.Mandate{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "Mandate"},
		ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "default", Generation: 2},
		Spec:       v1alpha1.MandateSpec{Individuals: []v1alpha1.Individual{{Name: "jane"}}},
	}
	change(m)
	return m
}

// shown is what the operator writes when a reconciliation ends with a reason.
func shown(reason string, change func(*facts), health string) situation {
	return situation{shownFor(situated(func(*v1alpha1.Mandate) {}), reason, change), health}
}

func shownFor(m *v1alpha1.Mandate, reason string, change func(*facts)) *v1alpha1.Mandate {
	p := connected(&Reconciler{}, scope{mandate: m, reference: "acme", facts: bound(change)}, nil)
	p.facts.now = now
	p.statusFor(&m.Status, reason)
	return m
}

func adopted() *v1alpha1.Mandate {
	open := func(f *facts) { f.application.stage = lifecycle.Open }
	adopt := &v1alpha1.Adoption{ApplicationID: bound(open).id}
	return shownFor(situated(func(m *v1alpha1.Mandate) { m.Spec.Adopt = adopt }), v1alpha1.ReasonAccepted, open)
}

func suspended(s situation) situation {
	s.mandate.Spec.Suspend = true
	return s
}

func edited() *v1alpha1.Mandate {
	m := shown(v1alpha1.ReasonAccepted, func(*facts) {}, "").mandate
	m.Generation++
	return m
}

// TestHealth holds what kstatus, Argo CD and Flux make of every status, and writes it down for people.
func TestHealth(t *testing.T) {
	argo, flux := argoHealth(t), fluxHealth(t)
	var table strings.Builder
	all := situations()
	var covered []metav1.Condition
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		covered = append(covered, s.mandate.Status.Conditions...)
		object := unstructuredOf(t, s.mandate)
		computed, err := status.Compute(&unstructured.Unstructured{Object: object})
		if err != nil {
			t.Fatal(err)
		}
		if got := argo(object); got != s.health {
			t.Errorf("%s: Argo CD says %s, want %s", name, got, s.health)
		}
		followed := s.health
		if meta.IsStatusConditionTrue(s.mandate.Status.Conditions, v1alpha1.ConditionReady) && followed == "Degraded" {
			followed = "Healthy" // kstatus and Flux see Ready only, and a refused decision leaves it True
		}
		wantFlux := map[string]string{
			"Healthy": "Current", "Suspended": "Current", "Degraded": "Failed", "Progressing": "InProgress",
		}[followed]
		if got := flux(object); got != wantFlux {
			t.Errorf("%s: Flux says %s, want %s", name, got, wantFlux)
		}
		wantKstatus := map[string]status.Status{
			"Healthy": status.CurrentStatus, "Degraded": status.FailedStatus,
			"Progressing": status.InProgressStatus, "Suspended": status.InProgressStatus,
		}[followed]
		if meta.IsStatusConditionTrue(s.mandate.Status.Conditions, v1alpha1.ConditionReconciling) {
			wantKstatus = status.InProgressStatus
		}
		if computed.Status != wantKstatus {
			t.Errorf("%s: kstatus says %s, want %s", name, computed.Status, wantKstatus)
		}
		writeRow(&table, name[2:], s, string(computed.Status), wantFlux)
	}
	if untested := gitops.UntestedReasons(read(t, "docs/conditions.md"), "Mandate", covered); len(untested) > 0 {
		t.Errorf("docs/conditions.md has reasons without a row: %q", untested)
	}
	undocumented := gitops.UndocumentedConditions(read(t, "docs/conditions.md"), "Mandate", covered)
	if len(undocumented) > 0 {
		t.Errorf("docs/conditions.md does not have these conditions: %q", undocumented)
	}
	page := strings.Replace(statusPage, "TABLE", table.String(), 1)
	// A test of the controller of services writes the rest.
	_, services, _ := strings.Cut(read(t, "docs/status.md"), servicesHeading)
	golden(t, "docs/status.md", page+"\n## Messages\n\n"+messagesPage+gitops.Messages(covered)+servicesHeading+services)
}

const statusPage = `# The status of a Mandate

This page lists every status of a Mandate, IdentityService and MandateAction, and what kstatus, Argo CD and Flux report
for it. A test generates the page from the operator's code, and checks what the tools report.

A Mandate has these conditions:

- **Ready** is True when the application exists, its id is known, and the operator has carried out the spec. It stays
  True while the verification waits for people.
- **Created** says whether the application exists.
- **ResolvedRefs** says whether the operator found everything that the spec names.
- **Decided** is True when the operator has carried out the decision of the spec. It stays True.
- **Completed** is True when the verification has an outcome. Its reason is the outcome.
- **Reconciling** is present while the operator has work to do.
- **Stalled** is present while a person must act.

To wait for a status:

` + "```sh" + `
kubectl wait --for=condition=Ready mandate/acme          # the application exists
kubectl wait --for=condition=Completed mandate/acme      # there is an outcome, which may be a rejection
kubectl wait --for=jsonpath='{.status.outcome}'=Completed mandate/acme
` + "```" + `

## What the tools report

The table assumes that Argo CD has the health checks of
[argocd-cm.yaml](../examples/gitops/argocd/argocd-cm.yaml), and Flux the expressions of
[mandates.yaml](../examples/gitops/flux/mandates.yaml). With ` + "`wait: true`" + ` alone, Flux reports what
kstatus reports, and waits for a suspended Mandate.

If the service refused a decision or a review, or if one is outdated, a person must act: Ready is False, and Stalled is
True. The alert is [IDVDecisionBlocked](runbooks.md#idvdecisionblocked).

| situation | Ready | Created | Completed | Reconciling / Stalled | kstatus | Argo CD | Flux |
|---|---|---|---|---|---|---|---|
TABLE`

const messagesPage = `These are the messages of each reason, as the situations above have them. A reason that has
several has the conditions with each. [conditions.md](conditions.md) explains each reason.

`

const servicesHeading = "\n## IdentityService and ClusterIdentityService\n"

func writeRow(table *strings.Builder, name string, s situation, kstatus, flux string) {
	cell := map[string]string{}
	for _, c := range s.mandate.Status.Conditions {
		cell[c.Type] = fmt.Sprintf("%s, %s", c.Status, c.Reason)
	}
	progress := ""
	for _, abnormal := range []string{v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled} {
		if cell[abnormal] != "" {
			progress = abnormal
		}
	}
	fmt.Fprintf(
		table,
		"| %s | %s | %s | %s | %s | %s | %s | %s |\n",
		name,
		cell[v1alpha1.ConditionReady],
		cell[v1alpha1.ConditionCreated],
		cell[v1alpha1.ConditionCompleted],
		progress,
		kstatus,
		s.health,
		flux,
	)
}

func golden(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(root+path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, path); got != want {
		t.Errorf("%s is not what the code makes: run make update", path)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func unstructuredOf(t *testing.T, m *v1alpha1.Mandate) map[string]any {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(m)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// argoHealth runs the Lua as Argo CD does, and holds that the ConfigMap has the same.
func argoHealth(t *testing.T) func(map[string]any) string {
	t.Helper()
	script := read(t, "examples/gitops/argocd/health.lua")
	golden(t, "examples/gitops/argocd/argocd-cm.yaml", argoConfig(t, script))
	return func(object map[string]any) string {
		health, err := gitops.ArgoCDHealth(script, object)
		if err != nil {
			t.Fatal(err)
		}
		return health
	}
}

func argoConfig(t *testing.T, script string) string {
	t.Helper()
	data := map[string]string{
		"resource.customizations.health.argoproj.io_Application": read(t, "examples/gitops/argocd/application.lua"),
	}
	for _, kind := range []string{"ClusterIdentityService", "IdentityService", "Mandate", "MandateAction"} {
		data["resource.customizations.health.idv.mandate.io_"+kind] = script
	}
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"data":       data,
		"metadata": map[string]any{
			"name":      "argocd-cm",
			"namespace": "argocd",
			"labels":    map[string]string{"app.kubernetes.io/part-of": "argocd"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const header = "# Made from health.lua and application.lua by a test. Merge it into the ConfigMap of your Argo CD.\n"
	return header + string(content)
}

// fluxHealth is what the example's Kustomization says about Mandates.
func fluxHealth(t *testing.T) func(map[string]any) string {
	t.Helper()
	health, err := gitops.FluxHealth([]byte(read(t, "examples/gitops/flux/mandates.yaml")), "Mandate")
	if err != nil {
		t.Fatal(err)
	}
	return func(object map[string]any) string {
		status, err := health(object)
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
}
