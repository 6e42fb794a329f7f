package mandate

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/evidence"
	"github.com/mandate-io/idv/operator/ledger"
)

// actionMoves are resets by MandateActions. What the service shows stays as it was: only the record tells.
func actionMoves(s *state, spend spender) {
	for _, name := range sorted(s.world.records) {
		for _, result := range []v1alpha1.CallResult{v1alpha1.CallDone, v1alpha1.CallUnknown} {
			if result == v1alpha1.CallUnknown && !s.world.mayReset(name) {
				continue
			}
			spend(act, fmt.Sprintf("an action resets the individual of %s: %s", name, result), func(after *state) {
				changed(func(w *world) { w.recordReset(name, result) })(after)
				after.ops[0] = after.ops[0].told(after.world, name)
			})
		}
	}
}

// mayReset reports whether an action can send a reset of the application of a Mandate: no other call is open.
func (w *world) mayReset(name string) bool {
	m := w.mandates[name]
	return m != nil && w.applicationOf(m) != nil && ledger.Open(w.records[name]) == nil
}

// recordReset does what the controller of MandateActions does, but for the time: it tells two resets of one name apart,
// and the passing of time would make it another reset here.
func (w *world) recordReset(name string, result v1alpha1.CallResult) {
	record := w.records[name].DeepCopy()
	n := len(record.Spec.Calls)
	call := v1alpha1.Call{
		Seq: int32(n + 1), Kind: v1alpha1.CallResetIndividual, Name: fmt.Sprint("reset-", n), Individual: "jane", Sends: 1,
		Result: result, Nonce: fmt.Sprint("reset-", n),
	}
	if result == v1alpha1.CallUnknown { // the service may carry it out at any time: pinResets keeps it recent
		call.StartedTime = ledger.MicroTime(now)
		id := w.applicationOf(w.mandates[name]).id
		w.changeSite(w.site(), func(here *site) {
			a := &here.applications[here.find(id)]
			a.resetting = true
			call.Evidence, _ = evidence.Key(record.Spec.Salt).Individual(&a.individuals(showsAll)[0], "")
		})
	}
	record.Spec.Calls = append(record.Spec.Calls, call)
	w.storeRecord(record)
}

// pinResets keeps resets without an answer from growing older. Their times tell them apart.
func (w *world) pinResets() {
	for name, record := range w.records {
		recent := func(c *v1alpha1.Call) bool {
			return c.Kind == v1alpha1.CallResetIndividual && c.Result == v1alpha1.CallUnknown
		}
		if ledger.Find(record, recent) == nil {
			continue
		}
		record = record.DeepCopy()
		ledger.Find(record, recent).StartedTime = ledger.MicroTime(now)
		w.records[name] = record
	}
}

// told is an operator whose controller of MandateActions has ended a reset.
func (o *operator) told(w *world, name string) *operator {
	r := reconciler(&environment{world: w}, o)
	r.RecordChanged(types.NamespacedName{Namespace: namespace, Name: name})
	told := *o
	told.localState = o.remember(r)
	return &told
}

// outdatedEvidence holds the status after a read without faults to what the service and the record say of the first
// check (I19). What it shows is what authors of decisions copy.
func (w *world) outdatedEvidence(name string) string {
	m, record := w.mandates[name], w.records[name]
	if m == nil || record == nil || is(m, v1alpha1.ConditionReady) != metav1.ConditionTrue || m.Status.Outcome != "" {
		return ""
	}
	a := w.applicationOf(m)
	if a == nil || a.check == 0 || w.unmatched() {
		return ""
	}
	_, reset := evidence.LastReset(record, "jane")
	key := evidence.Key(record.Spec.Salt).For(m.UID, record.UID)
	_, checks := key.Individual(&a.individuals(showsAll)[0], reset)
	if shown, _ := evidence.Parse(w.shownEvidence(name)); shown != checks[0] {
		return fmt.Sprintf("I19: after a read, %s shows the evidence %q, and %q is so", name, shown, checks[0])
	}
	return ""
}
