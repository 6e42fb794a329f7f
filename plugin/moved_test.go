package plugin

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// A GitOps tool has applied the Mandate in the new cluster before the import, so that there is a record with a log of
// its own. What the old cluster has sent is not sent again.
func TestImportedCallsAreNotMadeAgain(t *testing.T) {
	resend := v1alpha1.Call{Seq: 2, Kind: v1alpha1.CallResendInvite, Individual: "jane", Name: "resend-1", Sends: 1}
	reset := v1alpha1.Call{Kind: v1alpha1.CallResetIndividual, Individual: "jane", Name: "reset-1"}
	review := v1alpha1.Call{Seq: 3, Kind: v1alpha1.CallAcceptCheck, Individual: "jane"}
	before := &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{Calls: []v1alpha1.Call{reset}}}
	from := &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{
		Salt: "there", ApplicationID: new(int64(7)), Earlier: ledger.DigestsOf(before),
		Calls: []v1alpha1.Call{{Seq: 1, Kind: v1alpha1.CallCreate, Sends: 1, Result: v1alpha1.CallDone}, resend, review},
	}}
	current := &v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{
		Salt: "here", Calls: []v1alpha1.Call{{Seq: 1, Kind: v1alpha1.CallCreate, Result: v1alpha1.CallRefused}},
	}}
	merged, problem := mergeRecord(current, from)
	if problem != "" || merged == nil {
		t.Fatalf("the import changes %+v, and asks for %q", merged, problem)
	}
	for _, call := range []v1alpha1.Call{resend, reset} {
		if use, _ := ledger.UseOf(merged, &call); use != ledger.UsedForSameAction {
			t.Errorf("the name %s can be used again: %v", call.Name, use)
		}
	}
	if ledger.WasMade(merged, &review) { // it was not sent
		t.Error("a review that was not sent counts as made")
	}
	if again, problem := mergeRecord(merged, from); again != nil || problem != "" {
		t.Errorf("a second import changes %+v, and asks for %q", again, problem)
	}
	current.Spec.ApplicationID = new(int64(7)) // a person has adopted it
	if adopted, _ := mergeRecord(current, from); adopted == nil || len(adopted.Spec.Earlier) != 2 {
		t.Errorf("the record of what was adopted here keeps %+v, want two digests", adopted)
	}
}
