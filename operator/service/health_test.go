package service

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

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/gitops"
)

var update = flag.Bool("update", false, "write the section about services in docs/status.md")

const (
	script = "../../examples/gitops/argocd/health.lua"
	page   = "../../docs/status.md"

	// heading is where the section begins that this test writes, and next where it ends. The tests of the other
	// controllers write the rest.
	heading = "\n## IdentityService and ClusterIdentityService\n"
	next    = "\n## MandateAction\n"
	section = `
The table lists the reasons of Ready, and then those of the conditions InUse, AccountChanged, ApplicationsMissing,
StatesUnderstood and NotificationsUnavailable. For these kinds, Flux reports what kstatus reports.
[conditions.md](conditions.md#identityservice-and-clusteridentityservice) says what to do.

| situation | Ready | Stalled | kstatus, Flux | Argo CD |
|---|---|---|---|---|
`
)

// wantHealth is what Argo CD has to show for every reason, and kstatus accordingly.
var wantHealth = map[string]string{
	v1alpha1.ReasonConnected:                "Healthy",
	v1alpha1.ReasonReferencesForbidden:      "Healthy",
	v1alpha1.ReasonSecretNotFound:           "Progressing", // it may be applied later than the service
	v1alpha1.ReasonSecretForbidden:          "Progressing", // so may the operator's permission
	v1alpha1.ReasonSecretInvalid:            "Degraded",
	v1alpha1.ReasonSecretNotForThis:         "Degraded",
	v1alpha1.ReasonBaseURLNotAllowed:        "Degraded",
	v1alpha1.ReasonCABundleInvalid:          "Degraded",
	v1alpha1.ReasonNamespaceSelectorInvalid: "Degraded",
	v1alpha1.ReasonCredentialsInvalid:       "Degraded",
	v1alpha1.ReasonUnreachable:              "Progressing",
	v1alpha1.ReasonIdentityServiceError:     "Progressing",
	v1alpha1.ReasonLoginFailing:             "Progressing",
	v1alpha1.ReasonReadsFailing:             "Progressing",
	v1alpha1.ReasonWritesFailing:            "Progressing",
}

// TestHealth checks what kstatus, Argo CD and Flux report for every reason, and writes the table for people.
func TestHealth(t *testing.T) {
	var table strings.Builder
	var covered []metav1.Condition
	check := func(name, health string, want status.Status, service *v1alpha1.IdentityService) {
		covered = append(covered, service.Status.Conditions...)
		computed, got := reported(t, service)
		if got != health || computed != want {
			t.Errorf("%s: Argo CD says %s and kstatus %s, want %s and %s", name, got, computed, health, want)
		}
		cell := map[string]string{}
		for _, c := range service.Status.Conditions {
			cell[c.Type] = string(c.Status)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n",
			name, cell[v1alpha1.ConditionReady], cell[v1alpha1.ConditionStalled], computed, got)
	}
	check("not seen yet", "Progressing", status.InProgressStatus, &v1alpha1.IdentityService{
		ObjectMeta: metav1.ObjectMeta{Generation: 1}, Status: v1alpha1.IdentityServiceStatus{ObservedGeneration: -1},
	})
	for _, reason := range slices.Sorted(maps.Keys(messages)) {
		want := map[string]status.Status{
			"Healthy": status.CurrentStatus, "Degraded": status.FailedStatus, "Progressing": status.InProgressStatus,
		}[wantHealth[reason]]
		check(reason, wantHealth[reason], want, withReason(reason))
	}
	check(v1alpha1.ReasonMandatesRemain, "Progressing", status.TerminatingStatus, inUse())
	check(v1alpha1.ReasonAccountChanged, "Degraded", status.CurrentStatus, accountChanged())
	check(v1alpha1.ReasonApplicationsOfOtherAccount, "Degraded", status.CurrentStatus, applicationsOfOtherAccount())
	check(v1alpha1.ReasonApplicationsMissing, "Degraded", status.CurrentStatus, applicationsMissing())
	for _, kind := range []string{v1alpha1.ConditionCreationSuspended, v1alpha1.ConditionCreationBudgetReached} {
		limited := withReason(v1alpha1.ReasonConnected)
		setShared(&limited.Status, 2, kind, true)
		check(kind, "Healthy", status.CurrentStatus, limited)
	}
	check(v1alpha1.ReasonStateUnknown, "Degraded", status.CurrentStatus, stateUnknown())
	for _, reason := range slices.Sorted(maps.Keys(notificationMessages)) {
		check(reason, "Healthy", status.CurrentStatus, withoutNotifications(reason))
	}
	explanation, err := os.ReadFile("../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	kinds := "IdentityService and ClusterIdentityService"
	if untested := gitops.UntestedReasons(string(explanation), kinds, covered); len(untested) > 0 {
		t.Errorf("docs/conditions.md has reasons without a row: %q", untested)
	}
	if undocumented := gitops.UndocumentedConditions(string(explanation), kinds, covered); len(undocumented) > 0 {
		t.Errorf("docs/conditions.md does not have these conditions: %q", undocumented)
	}
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(content), heading)
	_, after, _ = strings.Cut(after, next)
	want := before + heading + section + table.String() + next + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(content) != want {
		t.Errorf("%s is not what the code makes: run make update", page)
	}
}

// Stalled is there only while it is true, and its transition is when it became so.
func TestStalledGoes(t *testing.T) {
	service := withReason(v1alpha1.ReasonConnected)
	conditions := &service.Status.Conditions
	setProgress(&service.Status, 3, v1alpha1.ReasonSecretInvalid)
	stalled := meta.FindStatusCondition(*conditions, v1alpha1.ConditionStalled)
	if stalled == nil || stalled.Reason != v1alpha1.ReasonSecretInvalid || stalled.ObservedGeneration != 3 {
		t.Fatalf("Stalled is %+v", stalled)
	}
	since := stalled.LastTransitionTime
	setProgress(&service.Status, 3, v1alpha1.ReasonCredentialsInvalid)
	stalled = meta.FindStatusCondition(*conditions, v1alpha1.ConditionStalled)
	if stalled.Reason != v1alpha1.ReasonCredentialsInvalid || stalled.LastTransitionTime != since {
		t.Errorf("Stalled is %+v, want another reason since %s", stalled, since)
	}
	setProgress(&service.Status, 3, v1alpha1.ReasonUnreachable)
	if meta.FindStatusCondition(*conditions, v1alpha1.ConditionStalled) != nil {
		t.Errorf("Stalled is still there: %+v", *conditions)
	}
}

func withReason(reason string) *v1alpha1.IdentityService {
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	service.Status.ObservedGeneration = 2
	setProgress(&service.Status, 2, reason)
	return service
}

// inUse is a service that somebody deleted, and Mandates need.
func inUse() *v1alpha1.IdentityService {
	service := withReason(v1alpha1.ReasonConnected)
	service.DeletionTimestamp = new(metav1.Now())
	meta.SetStatusCondition(&service.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionInUse, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMandatesRemain,
	})
	return service
}

func applicationsMissing() *v1alpha1.IdentityService {
	service := withReason(v1alpha1.ReasonConnected)
	setShared(&service.Status, 2, v1alpha1.ConditionApplicationsMissing, true)
	return service
}

func stateUnknown() *v1alpha1.IdentityService {
	service := withReason(v1alpha1.ReasonConnected)
	setStatesUnderstood(&service.Status, 2, false)
	return service
}

func accountChanged() *v1alpha1.IdentityService {
	service := withReason(v1alpha1.ReasonConnected)
	setShared(&service.Status, 2, v1alpha1.ConditionAccountChanged, true)
	return service
}

func applicationsOfOtherAccount() *v1alpha1.IdentityService {
	service, reason := withReason(v1alpha1.ReasonConnected), v1alpha1.ReasonApplicationsOfOtherAccount
	setWarning(&service.Status, 2, v1alpha1.ConditionAccountChanged, reason, sharedMessages[reason])
	return service
}

func withoutNotifications(reason string) *v1alpha1.IdentityService {
	service := withReason(v1alpha1.ReasonConnected)
	showNotifications(service, &service.Status, receiving{problem: reason}, time.Time{})
	return service
}

// reported is what kstatus and Argo CD report.
func reported(t *testing.T, service *v1alpha1.IdentityService) (kstatus status.Status, argo string) {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(service)
	if err != nil {
		t.Fatal(err)
	}
	computed, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		t.Fatal(err)
	}
	lua, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	argo, err = gitops.ArgoCDHealth(string(lua), object)
	if err != nil {
		t.Fatal(err)
	}
	return computed.Status, argo
}
