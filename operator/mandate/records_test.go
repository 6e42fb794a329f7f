package mandate

import (
	"testing"

	"k8s.io/utils/clock"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// The id in a record is that of this Mandate's application only at this service and under this reference.
func TestRecordOfAnotherServiceOrReference(t *testing.T) {
	for name, c := range map[string]struct {
		url, reference string
		reason         string
		id             int64
	}{
		"this one":          {url: firstURL, reference: "ACME-1", id: 7},
		"another reference": {url: firstURL, reference: "ACME-2", reason: v1alpha1.ReasonApplicationExists},
		"another service":   {url: otherURL, reference: "ACME-1", reason: v1alpha1.ReasonIdentityServiceMismatch},
		"both":              {url: otherURL, reference: "ACME-2", reason: v1alpha1.ReasonIdentityServiceMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			r := connected(&Reconciler{clock: clock.RealClock{}}, scope{
				mandate: &v1alpha1.Mandate{}, reference: "ACME-1",
			}, nil)
			r.session.Connection.URL = firstURL
			r.setRecord(&v1alpha1.ApplicationRecord{Spec: v1alpha1.ApplicationRecordSpec{
				ServiceURL: c.url, Reference: c.reference, ApplicationID: new(int64(7)),
			}})
			if got := mismatch(&r.facts.record); r.facts.id != c.id || got != c.reason {
				t.Errorf("the id is %d with the reason %q, want %d and %q", r.facts.id, got, c.id, c.reason)
			}
		})
	}
}
