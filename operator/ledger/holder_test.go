package ledger_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

var (
	sharedService = v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: "shared"}
	ownService    = v1alpha1.IdentityServiceReference{Kind: v1alpha1.ServiceKindIdentityService, Name: "shared"}
)

// with is the record of an application, or of a create whose outcome is unknown if the id is 0.
func with(service v1alpha1.IdentityServiceReference, url, reference string, id int64) v1alpha1.ApplicationRecordSpec {
	spec := v1alpha1.ApplicationRecordSpec{
		Salt: ledger.NewSalt(), Account: account, ServiceURL: url, Reference: reference, ServiceRef: service,
		MandateRef: v1alpha1.RecordedMandate{UID: "some"},
	}
	if id == 0 {
		spec.Calls = specFor(reference).Calls
	} else {
		spec.ApplicationID = &id
	}
	return spec
}

// Which record of another Mandate has the application that a Mandate is to adopt: id 7, under its reference.
func TestHeldByOther(t *testing.T) {
	t.Parallel()
	const other = "https://other.example.com"
	refused := with(sharedService, serviceURL, reference, 0)
	refused.Calls[0].Sends, refused.Calls[0].Result = 0, v1alpha1.CallRefused
	cases := map[string]struct {
		record v1alpha1.ApplicationRecordSpec
		// here and there: it counts in the namespace of the Mandate, and in another one.
		here, there bool
		// byOwn: it counts there, too, if the Mandate uses an IdentityService.
		byOwn bool
	}{
		"the application": {with(sharedService, serviceURL, reference, 7), true, true, true},
		"in other letters": {
			with(sharedService, serviceURL, "acme-1", 7), true, true, true,
		},
		"by way of an IdentityService":     {with(ownService, serviceURL, reference, 7), true, true, true},
		"under another reference":          {with(sharedService, serviceURL, "ACME-2", 7), true, false, false},
		"of a service that has moved":      {with(sharedService, other, reference, 7), true, true, false},
		"of somebody's own service":        {with(ownService, other, reference, 7), true, false, false},
		"another application":              {with(sharedService, serviceURL, reference, 8), false, false, false},
		"of another service, with its id":  {with(sharedService, other, "ACME-2", 7), false, false, false},
		"an unknown outcome":               {with(sharedService, serviceURL, reference, 0), false, true, false},
		"an unknown outcome, of their own": {with(ownService, serviceURL, reference, 0), false, false, false},
		"nothing was created":              {refused, false, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			apart, unwatched := env.Namespace(t), env.Namespace(t)
			f.Namespaces = []string{f.namespace, apart}
			for namespace, want := range map[string]bool{f.namespace: c.here, apart: c.there, unwatched: false} {
				record := &v1alpha1.ApplicationRecord{
					ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "beta"}, Spec: *c.record.DeepCopy(),
				}
				f.check(f.client.Create(t.Context(), record))
				f.holds(sharedService, "acme", want, "in "+namespace)
				f.holds(ownService, "acme", want && (namespace == f.namespace || c.byOwn), "by an IdentityService")
				if namespace == f.namespace {
					f.holds(sharedService, "beta", false, "by itself")
				}
				f.check(f.client.Delete(t.Context(), record))
			}
		})
	}
}

// holds checks whether another Mandate has the application.
func (f *fixture) holds(service v1alpha1.IdentityServiceReference, name string, want bool, what string) {
	f.Helper()
	mandate := types.NamespacedName{Namespace: f.namespace, Name: name}
	got, err := f.HeldByOther(f.Context(), mandate, with(service, serviceURL, reference, 7))
	if err != nil || got != want {
		f.Errorf("%s: got %t, %v, want %t", what, got, err, want)
	}
}

// All namespaces are searched, or those that the operator watches. A reference can have any character.
func TestHeldByOtherAmongMany(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const odd = `a,b=c\d!=e "f" ä`
	for i := range 3 {
		name := fmt.Sprint("many-", i)
		spec := with(ownService, fmt.Sprintf("https://%d.example.com/", i), odd, 7)
		f.check(f.client.Create(t.Context(), &v1alpha1.ApplicationRecord{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.namespace, Name: name}, Spec: spec,
		}))
	}
	for _, c := range []struct {
		url      string
		searched []string
		want     bool
	}{
		{"https://2.example.com/", nil, true},
		{"https://2.example.com/", []string{"other", f.namespace}, true},
		{"https://2.example.com/", []string{"other"}, false},
		{"https://3.example.com/", nil, false},
	} {
		f.Namespaces = c.searched
		mandate := types.NamespacedName{Namespace: "other", Name: "acme"}
		got, err := f.HeldByOther(t.Context(), mandate, with(ownService, c.url, odd, 7))
		if err != nil || got != c.want {
			t.Errorf("%s in %q: got %t, %v, want %t", c.url, c.searched, got, err, c.want)
		}
	}
}
