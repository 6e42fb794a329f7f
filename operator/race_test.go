package operator_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// connected is a world with a connection and without an operator: the test is the operator.
func connected(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	return w
}

func (w *world) get(name string) *v1alpha1.Mandate {
	w.Helper()
	m := &v1alpha1.Mandate{}
	w.check(w.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, m))
	return m
}

// is checks what a condition is now.
func (w *world) checkCondition(name, conditionType string, status metav1.ConditionStatus, reason string) {
	w.Helper()
	c := meta.FindStatusCondition(w.get(name).Status.Conditions, conditionType)
	if c == nil || c.Status != status || c.Reason != reason {
		w.Errorf("%s of the Mandate %s is %+v, want %s with reason %s", conditionType, name, c, status, reason)
	}
}

func (w *world) checkCreates(want int64) {
	w.Helper()
	if got := w.requests(control.CreateApplication); got != want {
		w.Errorf("%d create requests, want %d", got, want)
	}
}

// onlyRecord is the only record that there is.
func (w *world) onlyRecord() *v1alpha1.ApplicationRecord {
	w.Helper()
	records := w.records()
	if len(records) != 1 {
		w.Fatalf("%d records, want 1: %+v", len(records), records)
	}
	return &records[0]
}

// recorded checks that the ledger has the one application that there is.
func (w *world) checkRecorded() {
	w.Helper()
	applications, err := w.sandbox.Applications(w.Context())
	w.check(err)
	id := w.onlyRecord().Spec.ApplicationID
	if len(applications) != 1 || id == nil || *id != applications[0].ID {
		w.Errorf("the ledger has application %v, want the one of %+v", id, applications)
	}
}

// takeOver lets another operator take an attempt over that it believes to be lost, and send it again.
func (w *world) takeOver(name string) {
	w.Helper()
	successor := w.newManualReconciler()
	successor.SettleDelay = 2 * time.Second
	sent := w.requests(control.CreateApplication)
	w.eventually(func() (bool, string) {
		successor.reconcile(name)
		return w.requests(control.CreateApplication) == sent+1, "nothing is sent again"
	})
}

// While the answer to a create is on its way to the ledger, its record changes. The id is stored, and the pass ends.
func TestDeposit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		meanwhile func(*world)
		then      func(*world)
	}{
		"taken over": {
			reason:    "the successor's own attempt was called a duplicate, so that nobody else knows the id",
			meanwhile: func(w *world) { w.takeOver("acme") },
			then: func(w *world) {
				w.checkRecorded()
				w.newManualReconciler().reconcile("acme")
				w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
			},
		},
		"deleted": {
			meanwhile: func(w *world) { w.check(w.Delete(w.Context(), w.onlyRecord())) },
			then:      func(w *world) { w.checkRecorded() },
		},
		"deleted, and claimed by another Mandate": {
			reason: "one Mandate's people must not show up at another",
			meanwhile: func(w *world) {
				w.check(w.Delete(w.Context(), w.onlyRecord()))
				w.mandate("other", fmt.Sprintf("{reference: %s.acme}", w.namespace))
				w.newManualReconciler().reconcile("other")
			},
			then: func(w *world) {
				if record := w.onlyRecord(); record.Spec.MandateRef.Name != "other" || record.Spec.ApplicationID != nil {
					w.Errorf("the record is %+v", record.Spec)
				}
				w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict)
			},
		},
		"given another id": {
			reason: "a service that checks for duplicates too late has created two; the first that is known stays",
			meanwhile: func(w *world) {
				record := w.onlyRecord()
				changed := record.DeepCopy()
				changed.Spec.ApplicationID = new(int64(1))
				w.check(w.Patch(w.Context(), changed, client.MergeFrom(record)))
			},
			then: func(w *world) {
				if id := w.get("acme").Status.ApplicationID; id != nil {
					w.Errorf("application %d was bound, and the ledger has another", *id)
				}
			},
		},
		"gone with its namespace": {
			reason: "there is no place left to store it, and a pass that waits for one holds a worker for ever",
			meanwhile: func(w *world) {
				w.check(w.Delete(w.Context(), w.onlyRecord()))
				w.check(w.Delete(w.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}))
			},
			then: func(*world) {},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			r := w.newManualReconciler()
			r.beforeFirst("patch ApplicationRecord", func() { c.meanwhile(w) })
			r.reconcile("acme")
			c.then(w)
			w.emails(1)
			if w.Failed() {
				t.Log(c.reason)
			}
		})
	}
}

// Between the claim and the create, somebody edits what the application is made from: nothing is sent.
func TestEditedAfterTheClaim(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*world){
		"the Mandate's reference":   func(w *world) { w.mandate("acme", "{reference: another}") },
		"the Mandate's service":     func(w *world) { w.mandate("acme", "{serviceRef: {name: another}}") },
		"suspended":                 func(w *world) { w.mandate("acme", "{suspend: true}") },
		"the Mandate deleted":       func(w *world) { w.kubectl("delete", "mandate", "acme") },
		"the Mandate created again": func(w *world) { w.kubectl("delete", "mandate", "acme"); w.mandate("acme", "{}") },
		"the service's prefix":      func(w *world) { w.patchService("{referencePrefix: another-}") },
		"the service's URL":         func(w *world) { w.patchService(`{baseURL: "http://127.0.0.1:1"}`) },
		"the service deleted":       func(w *world) { w.kubectl("delete", "identityservice", "default") },
		"the service created again": func(w *world) { w.kubectl("delete", "identityservice", "default"); w.connect() },
		"bound by another operator": func(w *world) { w.bind("acme", 1) },
		"the Mandate's name":        func(w *world) { w.mandate("acme", "{name: Another}") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			r := w.newManualReconciler()
			r.beforeFirst("create ApplicationRecord", func() { r.cached = w.get("acme"); edit(w) })
			r.reconcile("acme")
			w.checkCreates(0)
			if attempt := w.onlyRecord().Spec.Attempt; attempt.Sent || attempt.Verdict != v1alpha1.VerdictNotSent {
				t.Errorf("the attempt that was not sent is recorded as %+v", attempt)
			}
		})
	}
}

// service edits the IdentityService.
func (w *world) patchService(spec string) {
	w.Helper()
	patch, err := yaml.YAMLToJSON([]byte("{spec: " + spec + "}"))
	w.check(err)
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "default"}}
	w.check(w.Patch(w.Context(), service, client.RawPatch(types.MergePatchType, patch)))
}

// bind writes an application id into the status of a Mandate, as an operator would.
func (w *world) bind(name string, id int64) {
	w.Helper()
	m := w.get(name)
	bound := m.DeepCopy()
	bound.Status.ApplicationID = &id
	w.check(w.Status().Patch(w.Context(), bound, client.MergeFrom(m)))
}

// A Mandate is deleted and applied again, with another reference, while its application is being created: what belongs to
// the old one must not be written into the new one, which could never get rid of it.
func TestAppliedAgainWhileCreating(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{reference: old}")
	r := w.newManualReconciler()
	r.beforeFirst("patch status of Mandate", func() {
		w.kubectl("delete", "mandate", "acme")
		w.mandate("acme", "{reference: new}")
	})
	r.reconcile("acme")
	if id := w.get("acme").Status.ApplicationID; id != nil {
		t.Fatalf("the new Mandate was given application %d of the old one", *id)
	}
	r.reconcile("acme")
	if m := w.get("acme"); m.Status.ApplicationID == nil || m.Status.Reference != "new" {
		t.Errorf("the new Mandate has no application of its own: %+v", m.Status)
	}
	w.emails(2)
}

// Clocks of two machines differ. What counts is how long an operator itself has seen an attempt.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	for name, offset := range map[string]time.Duration{"ahead": time.Hour, "equal": 0, "behind": -time.Hour} {
		t.Run("the other clock is "+name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			r := w.newManualReconciler()
			attempt := ledger.NewAttempt("", time.Now())
			attempt.StartedTime.Time, attempt.FirstStartedTime.Time = attempt.StartedTime.Add(offset), attempt.FirstStartedTime.Add(offset)
			_, err := r.Ledger.Claim(t.Context(), w.namespace, v1alpha1.ApplicationRecordSpec{
				ServiceURL: ledger.NormalURL(w.url), Reference: w.namespace + ".acme", Attempt: &attempt,
				MandateRef: v1alpha1.RecordedMandate{Name: "acme", UID: w.get("acme").UID},
			})
			w.check(err)
			r.reconcile("acme")
			w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
			w.checkCreates(0)
			w.takeOver("acme")
			w.emails(1)
		})
	}
}

// A Mandate is edited while its application is being created, before the status tells of it. The cache lags behind.
func TestStatusIsNotWrittenOverANewerOne(t *testing.T) {
	t.Parallel()
	w := connected(t)
	w.mandate("acme", "{}")
	r := w.newManualReconciler()
	stale := w.get("acme")
	r.reconcile("acme")
	created := w.get("acme")
	stale.Spec.Suspend = true
	r.cached = stale
	r.reconcile("acme")
	if now := w.get("acme"); now.ResourceVersion != created.ResourceVersion {
		t.Errorf("a status that was made from an old Mandate was written over a newer one: %+v", now.Status.Conditions)
	}
}
