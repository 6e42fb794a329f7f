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
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/operator/ledger"
)

// connected is a world with an IdentityService and without an operator, for a manualReconciler.
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

func (w *world) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

// checkCondition checks the current status and reason of a condition.
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

// onlyRecord is the only record of the namespace.
func (w *world) onlyRecord() *v1alpha1.ApplicationRecord {
	w.Helper()
	records := w.records()
	if len(records) != 1 {
		w.Fatalf("%d records, want 1: %+v", len(records), records)
	}
	return &records[0]
}

// checkRecorded checks that the ledger has the service's only application.
func (w *world) checkRecorded() {
	w.Helper()
	applications, err := w.sandbox.Applications(w.Context())
	w.check(err)
	id := w.onlyRecord().Spec.ApplicationID
	if len(applications) != 1 || id == nil || *id != applications[0].ID {
		w.Errorf("the ledger has application %v, want the one of %+v", id, applications)
	}
}

// takeOver makes another operator take over an attempt, as if its owner had crashed, and send it again.
func (w *world) takeOver(name string) {
	w.Helper()
	successor := w.newManualReconciler()
	successor.setSettleDelay(2 * time.Second)
	sent := w.requests(control.CreateApplication)
	w.eventually(func() (bool, string) {
		successor.reconcile(name)
		return w.requests(control.CreateApplication) == sent+1, "no request is sent again"
	})
}

// The record changes between the answer to a create and its deposit. The id is stored, and the reconciliation finishes.
func TestDeposit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		meanwhile func(*world)
		then      func(*world)
	}{
		"taken over": {
			reason:    "the successor's own attempt was rejected as a duplicate, so that it does not know the id",
			meanwhile: func(w *world) { w.takeOver("acme") },
			then: func(w *world) {
				w.checkRecorded()
				w.newManualReconciler().reconcile("acme")
				w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
			},
		},
		"taken over by a Mandate that was applied again for another person": {
			reason: "the application was created for the person before",
			meanwhile: func(w *world) {
				w.deleteMandate("acme")
				w.mandate("acme", "{individuals: [{name: jane, email: canary@example.com}]}")
				w.takeOver("acme")
			},
			then: func(w *world) {
				w.checkRecorded()
				w.newManualReconciler().reconcile("acme")
				w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSpecDiffers)
			},
		},
		"deleted": {
			meanwhile: func(w *world) { w.check(w.Delete(w.Context(), w.onlyRecord())) },
			then:      func(w *world) { w.checkRecorded() },
		},
		"deleted, and its reference wanted by another Mandate": {
			reason: "the service holds the reference, and each Mandate has a record of its own",
			meanwhile: func(w *world) {
				w.check(w.Delete(w.Context(), w.onlyRecord()))
				w.mandate("other", fmt.Sprintf("{reference: %s.acme}", w.namespace))
				w.newManualReconciler().reconcile("other")
			},
			then: func(w *world) {
				w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAccepted)
				w.checkCondition("other", v1alpha1.ConditionCreated, metav1.ConditionFalse, v1alpha1.ReasonReferenceConflict)
			},
		},
		"deleted, and refused under another reference": {
			reason: "the name has an application, whatever its Mandate asks for now",
			meanwhile: func(w *world) {
				w.check(w.Delete(w.Context(), w.onlyRecord()))
				w.mandate("acme", "{reference: another, mandateType: {id: 999999}}")
				w.newManualReconciler().reconcile("acme")
			},
			then: func(w *world) {
				w.checkRecorded()
				w.mandate("acme", "{reference: another}")
				w.newManualReconciler().reconcile("acme")
				w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonApplicationExists)
			},
		},
		"given another id": {
			reason: "a service that checks for duplicates too late has created two; the first known id stays",
			meanwhile: func(w *world) {
				record := w.onlyRecord()
				changed := record.DeepCopy()
				changed.Spec.ApplicationID = new(int64(1))
				w.check(w.Patch(w.Context(), changed, client.MergeFrom(record)))
			},
			then: func(w *world) {
				if id := w.get("acme").Status.ApplicationID; id != nil {
					w.Errorf("application %d was bound, and the ledger has another one", *id)
				}
			},
		},
		"gone with its namespace": {
			reason: "there is no place left to store it, and waiting for one would block a worker forever",
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

// Between the claim and the create, a user edits what the application is created from: nothing is sent.
func TestEditedAfterTheClaim(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*world){
		"the Mandate's reference": func(w *world) { w.mandate("acme", "{reference: another}") },
		"the Mandate's service":   func(w *world) { w.mandate("acme", "{serviceRef: {name: another}}") },
		"suspended":               func(w *world) { w.mandate("acme", "{suspend: true}") },
		"the Mandate deleted":     func(w *world) { w.kubectl("delete", "mandate", "acme") },
		"the Mandate created again": func(w *world) {
			w.kubectl("delete", "mandate", "acme")
			w.mandate("acme", "{}")
		},
		"the service's prefix": func(w *world) { w.patchService("{referencePrefix: another-}") },
		"the service's URL":    func(w *world) { w.patchService(`{baseURL: "http://127.0.0.1:1"}`) },
		"the service deleted":  func(w *world) { w.kubectl("delete", "identityservice", "default") },
		"the service created again": func(w *world) {
			w.kubectl("delete", "identityservice", "default")
			w.connect()
		},
		"bound by another operator": func(w *world) { w.bind("acme", 1) },
		"the Mandate's name":        func(w *world) { w.mandate("acme", "{name: Another}") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			r := w.newManualReconciler()
			r.beforeFirst("create ApplicationRecord", func() {
				r.cached = w.get("acme")
				edit(w)
			})
			r.reconcile("acme")
			w.checkCreates(0)
			if create := w.create(); create.Sends != 0 || create.Result != v1alpha1.CallNotSent {
				t.Errorf("the create is %+v, want one that was not sent", create)
			}
		})
	}
}

// patchService edits the IdentityService.
func (w *world) patchService(spec string) {
	w.Helper()
	patch, err := yaml.YAMLToJSON([]byte("{spec: " + spec + "}"))
	w.check(err)
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "default"}}
	w.check(w.Patch(w.Context(), service, client.RawPatch(types.MergePatchType, patch)))
}

// bind writes an application id into the status of a Mandate, as another operator would.
func (w *world) bind(name string, id int64) {
	w.Helper()
	m := w.get(name)
	bound := m.DeepCopy()
	bound.Status.ApplicationID = &id
	w.check(w.Status().Patch(w.Context(), bound, client.MergeFrom(m)))
}

// A Mandate is deleted and applied again, with another reference, during its create. The application of the old
// reference must not be bound to the new Mandate, because a binding is final, and no other is created.
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
		t.Fatalf("application %d of the old Mandate was bound to the new one", *id)
	}
	r.reconcile("acme")
	w.checkCondition("acme", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonApplicationExists)
	w.emails(1)
}

// The clocks of two machines differ. The operator measures the age of an attempt by its own clock.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	for name, offset := range map[string]time.Duration{"fast": time.Hour, "equal": 0, "slow": -30 * time.Minute} {
		t.Run("the other clock is "+name, func(t *testing.T) {
			t.Parallel()
			w := connected(t)
			w.mandate("acme", "{}")
			r := w.newManualReconciler()
			w.claimed(r, ledger.New(v1alpha1.CallCreate, time.Now().Add(offset)))
			r.reconcile("acme")
			w.checkCondition("acme", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)
			w.checkCreates(0)
			w.takeOver("acme")
			w.emails(1)
		})
	}
}

// claimed has another operator claim the record of acme, with a create that it has begun.
func (w *world) claimed(r *manualReconciler, create v1alpha1.Call) {
	w.Helper()
	create.Seq = 1
	_, err := r.Ledger.Claim(w.Context(), w.key("acme"), v1alpha1.ApplicationRecordSpec{
		Salt: ledger.NewSalt(), Account: string(testAccount),
		ServiceURL: idv.NormalBaseURL(w.url), Reference: w.namespace + ".acme", Calls: []v1alpha1.Call{create},
		MandateRef: v1alpha1.RecordedMandate{UID: w.get("acme").UID},
	})
	w.check(err)
}

// create is that of the only record.
func (w *world) create() *v1alpha1.Call {
	w.Helper()
	create := ledger.CreateOf(w.onlyRecord())
	if create == nil {
		w.Fatal("the record has no create")
	}
	return create
}

// A Mandate is edited during its create, and the cache is stale: the operator does not write the status.
func TestStaleStatusIsNotWritten(t *testing.T) {
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
		t.Errorf("a status from a stale Mandate was written over a newer one: %+v", now.Status.Conditions)
	}
}
