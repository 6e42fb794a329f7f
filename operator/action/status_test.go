package action

import (
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// What kstatus, and so Flux and kpt, says of an action with each reason: a failure is one for tools that do not know
// our conditions, and an action that is open is not done.
func TestVerdicts(t *testing.T) {
	want := map[progress]status.Status{
		progressing: status.InProgressStatus,
		complete:    status.CurrentStatus,
		failed:      status.FailedStatus,
	}
	for reason, v := range conditionSpecs {
		t.Run(reason, func(t *testing.T) {
			for _, before := range []string{"", v1alpha1.ReasonMandateNotFound, v1alpha1.ReasonRetrying} {
				o := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
				p := &reconciliation{action: o, facts: facts{now: time.Now(), emails: true}}
				if before != "" {
					p.statusFor(&o.Status, before)
				}
				p.statusFor(&o.Status, reason)
				checkStatus(t, &o.Status, reason, v.progress)
				if got := kstatus(t, o); got != want[v.progress] {
					t.Errorf("after %q: kstatus says %s, want %s", before, got, want[v.progress])
				}
			}
			if v.message == "" || !strings.HasSuffix(v.message, ".") {
				t.Errorf("the message is no sentence: %q", v.message)
			}
		})
	}
}

func checkStatus(t *testing.T, s *v1alpha1.MandateActionStatus, reason string, p progress) {
	t.Helper()
	is := func(conditionType string) bool {
		c := meta.FindStatusCondition(s.Conditions, conditionType)
		return c != nil && c.Status == metav1.ConditionTrue && c.Reason == reason && c.ObservedGeneration == 3
	}
	wanted := map[progress][]string{
		progressing: {v1alpha1.ConditionReconciling},
		complete:    {v1alpha1.ConditionComplete},
		failed:      {v1alpha1.ConditionFailed, v1alpha1.ConditionStalled},
	}[p]
	for _, conditionType := range wanted {
		if !is(conditionType) {
			t.Errorf("%s is not True with reason %s: %+v", conditionType, reason, s.Conditions)
		}
	}
	if len(s.Conditions) != len(wanted) {
		t.Errorf("conditions are %+v, want %v and no other", s.Conditions, wanted)
	}
	if ended := s.CompletedTime != nil; ended != (p != progressing) {
		t.Errorf("completedTime is %v", s.CompletedTime)
	}
}

// An action has started when the call was recorded that its own object ordered.
func TestStartedTime(t *testing.T) {
	started := ledger.MicroTime(time.Now())
	for name, c := range map[string]struct {
		call   *v1alpha1.Call
		reason string
		want   bool
	}{
		"carried out":        {&v1alpha1.Call{UID: "1", StartedTime: started}, v1alpha1.ReasonCarriedOut, true},
		"refused":            {&v1alpha1.Call{UID: "1", StartedTime: started}, v1alpha1.ReasonRefused, true},
		"not sent":           {&v1alpha1.Call{UID: "1", StartedTime: started}, v1alpha1.ReasonRetrying, false},
		"by another object":  {&v1alpha1.Call{UID: "2", StartedTime: started}, v1alpha1.ReasonAlreadyDone, false},
		"there is no record": {nil, v1alpha1.ReasonMandateGone, false},
	} {
		o := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
		p := &reconciliation{action: o, entry: c.call, facts: facts{now: time.Now(), emails: true}}
		p.statusFor(&o.Status, c.reason)
		if got := o.Status.StartedTime; (got != nil) != c.want || c.want && !got.Time.Equal(started.Time) {
			t.Errorf("%s: started %v", name, got)
		}
	}
}

// An edit of the time to live leaves the end as it was, for this generation too: kubectl wait compares them.
func TestStatusAfterTheEnd(t *testing.T) {
	o := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	p := &reconciliation{action: o, facts: facts{now: time.Now(), emails: true}}
	p.statusFor(&o.Status, v1alpha1.ReasonRefused)
	ended := o.Status.CompletedTime.Time
	o.Generation, p.facts.now = 4, p.facts.now.Add(time.Hour)
	p.statusFor(&o.Status, reasonEnded)
	failed := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionFailed)
	if !o.Status.CompletedTime.Time.Equal(ended) || failed.Reason != v1alpha1.ReasonRefused ||
		failed.ObservedGeneration != 4 ||
		o.Status.ObservedGeneration != 4 {
		t.Errorf("the status after an edit: %+v", o.Status)
	}
	if got := kstatus(t, o); got != status.FailedStatus {
		t.Errorf("kstatus says %s", got)
	}
}

func kstatus(t *testing.T, o *v1alpha1.MandateAction) status.Status {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: object}
	u.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("MandateAction"))
	result, err := status.Compute(u)
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}
