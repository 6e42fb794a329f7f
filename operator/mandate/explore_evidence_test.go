package mandate

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/evidence"
)

// actionMoves are resets by MandateActions. What the service shows stays as it was: only the record tells.
func actionMoves(s *state, spend spender) {
	for _, name := range sorted(s.world.records) {
		spend(act, "an action resets the individual of "+name, func(after *state) {
			changed(func(w *world) { w.recordReset(name) })(after)
			after.ops[0] = after.ops[0].told(after.world, name)
		})
	}
}

// recordReset does what the controller of MandateActions does, but for the time: it tells two resets of one name apart,
// and the passing of time would make it another reset here.
func (w *world) recordReset(name string) {
	record := w.records[name].DeepCopy()
	n := len(record.Spec.Calls)
	record.Spec.Calls = append(record.Spec.Calls, v1alpha1.Call{
		Seq: int32(n + 1), Kind: v1alpha1.CallResetIndividual, Name: fmt.Sprint("reset-", n), Individual: "jane", Sends: 1,
		Result: v1alpha1.CallDone, Nonce: fmt.Sprint("reset-", n),
	})
	w.storeRecord(record)
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
	_, checks := evidence.Key(record.Spec.Salt).Individual(&a.individuals(showsAll)[0], reset)
	if shown := w.shownEvidence(name); shown != checks[0] {
		return fmt.Sprintf("I19: after a read, %s shows the evidence %q, and %q is so", name, shown, checks[0])
	}
	return ""
}
