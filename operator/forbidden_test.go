package operator_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// The user of a connection may not do one thing. Only an object that asks for it says so, and no other is affected.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]dialect.Dialect{
		"403": {ForbiddenOperation: dialect.ForbiddenDecisions},
		"401": {ForbiddenOperation: dialect.ForbiddenDecisions, ForbiddenStatus: dialect.ForbiddenStatus401},
	} {
		t.Run("decisions get "+name, func(t *testing.T) {
			t.Parallel()
			w := runningAs(t, d)
			w.mandate("acme", "{}")
			w.complete(w.ready("acme"))
			w.condition("acme", v1alpha1.ConditionDecided, metav1.ConditionFalse, v1alpha1.ReasonDecisionForbidden)
			w.stalled("acme", v1alpha1.ReasonDecisionForbidden)
			w.waitPolls(3)
			if n := w.requests(control.CompleteApplication); n != 1 {
				t.Errorf("the decision was sent %d times", n)
			}
			w.mandate("other", "{}")
			w.ready("other")
			w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
		})
	}
	t.Run("a mandate type", func(t *testing.T) {
		t.Parallel()
		w := runningAs(t, dialect.Dialect{ForbiddenMandateType: dialect.ForbiddenMandateTypeLast})
		w.mandate("acme", "{mandateType: {code: address}}")
		w.stalled("acme", v1alpha1.ReasonForbidden)
		w.mandate("other", "{}")
		w.ready("other")
		w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
		if n := w.requests(control.CreateApplication); n != 2 {
			t.Errorf("%d creates", n)
		}
		w.check(w.sandbox.ResetDialects(t.Context())) // the permission is granted
		w.requestRead("acme")
		w.ready("acme")
		w.emails(2)
	})
	t.Run("an action ends", func(t *testing.T) {
		t.Parallel()
		w := runningAs(t, dialect.Dialect{ForbiddenOperation: string(control.ResendInvites)})
		w.mandate("acme", "{}")
		w.ready("acme")
		w.action("resend", resend)
		w.actionFails("resend", v1alpha1.ReasonForbidden)
		w.check(w.sandbox.ResetDialects(t.Context()))
		w.kill()
		w.start()
		w.action("next", resend)
		w.actionCompletes("next")
		w.checkEmailed(control.Resend, 1)
	})
	t.Run("an action that waits for a read ends", func(t *testing.T) {
		t.Parallel()
		w := runningAs(t, dialect.Dialect{})
		w.mandate("acme", "{}")
		w.ready("acme")
		w.check(w.sandbox.SetDialect(t.Context(), "forbiddenOperation", string(control.RetrieveApplication)))
		w.action("resend", resend)
		w.actionFails("resend", v1alpha1.ReasonForbidden)
		w.condition("acme", v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonReadForbidden)
		w.check(w.sandbox.ResetDialects(t.Context()))
		w.ready("acme")
		w.checkEmailed(control.Resend, 0)
	})
	t.Run("the reference data", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, sandbox.Options{Dialect: dialect.Dialect{ForbiddenOperation: string(control.References)}})
		w.connect()
		w.start()
		w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonReferencesForbidden)
		w.mandate("acme", "{}")
		w.stalled("acme", v1alpha1.ReasonMandateTypeNotFound)
		w.mandate("byid", "{mandateType: {id: 17}}")
		w.ready("byid")
	})
	t.Run("everything", func(t *testing.T) {
		t.Parallel()
		w := runningAs(t, dialect.Dialect{})
		w.mandate("acme", "{}")
		w.ready("acme")
		w.check(w.sandbox.SetDialect(t.Context(), "apiPermission", dialect.APIPermission403))
		started := time.Now()
		w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonCredentialsInvalid)
		t.Logf("CredentialsInvalid %s after the permission was taken away", time.Since(started).Round(time.Second))
		w.check(w.sandbox.ResetDialects(t.Context()))
		w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
		w.ready("acme")
		w.emails(1)
	})
}

// runningAs is running, with another reading of the interface.
func runningAs(t *testing.T, d dialect.Dialect) *world {
	t.Helper()
	w := newWorld(t, sandbox.Options{Dialect: d})
	w.connect()
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	return w
}

// Refusals other than those of the content are said, and tried again slowly, or on request. The circuit stays closed.
func TestRefusedForNow(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"402", "404", "409", "423"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			w := runningAs(t, dialect.Dialect{CreateRefusal: status, ErrorShape: "numeric_id"})
			for i := range 4 {
				w.mandate(fmt.Sprintf("acme-%d", i), "{}")
			}
			for i := range 4 {
				w.stalled(fmt.Sprintf("acme-%d", i), v1alpha1.ReasonRefusedForNow)
			}
			w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
			if n := w.requests(control.CreateApplication); n != 4 {
				t.Errorf("%d creates for 4 Mandates", n)
			}
			w.check(w.sandbox.ResetDialects(t.Context()))
			w.requestRead("acme-2")
			w.ready("acme-2")
			w.emails(1)
		})
	}
}

// One tenant's forbidden requests change nothing for another one on the same ClusterIdentityService.
func TestForbiddenRequestsDelayNoOtherNamespace(t *testing.T) {
	w := newWorld(t, sandbox.Options{Dialect: dialect.Dialect{
		ForbiddenMandateType: dialect.ForbiddenMandateTypeLast, ForbiddenOperation: dialect.ForbiddenDecisions,
	}})
	w.newClusterService("shared", "namespaceSelector: {}")
	tenant := w.inNewNamespace()
	w.startFor([]*world{tenant})
	shared := "{" + sharedServiceRef + "}"
	alone := w.readyInTime("alone", shared)
	const forbidden = 100
	for i := range forbidden {
		tenant.mandate(fmt.Sprintf("type-%d", i), "{mandateType: {code: address}, "+sharedServiceRef+"}")
		tenant.mandate(fmt.Sprintf("decision-%d", i), "{"+byRule+", "+sharedServiceRef+"}")
	}
	w.check(w.sandbox.SetAutoplay(t.Context(), control.Autoplay{Enabled: true, DelayMillis: 1}))
	w.eventually(func() (bool, string) {
		n := w.requests(control.CompleteApplication)
		return n > 0, "no decision was sent yet"
	})
	beside := w.readyInTime("beside", shared)
	t.Logf("manifest to Ready, alone: p50 %s, p99 %s", at(alone, 50), at(alone, 99))
	t.Logf("beside %d forbidden creates and %d forbidden decisions: p50 %s, p99 %s", forbidden,
		w.requests(control.CompleteApplication), at(beside, 50), at(beside, 99))
	if limit := max(latestPOST, 3*at(alone, 99)); at(beside, 99) > limit {
		t.Errorf("p99 is %s beside the forbidden requests, want %s at most", at(beside, 99), limit)
	}
	service := clusterService("shared")
	w.check(w.Get(t.Context(), client.ObjectKeyFromObject(service), service))
	if !meta.IsStatusConditionTrue(service.Status.Conditions, v1alpha1.ConditionReady) {
		t.Errorf("the service is not Ready: %+v", service.Status.Conditions)
	}
}

// at is a percentile of sorted durations.
func at(sorted []time.Duration, percentile int) time.Duration {
	return sorted[min(len(sorted)*percentile/100, len(sorted)-1)].Round(time.Millisecond)
}

// readyInTime applies Mandates one by one, and gives how long each took until it was Ready, sorted.
func (w *world) readyInTime(prefix, spec string) (took []time.Duration) {
	w.Helper()
	for i := range 30 {
		name := fmt.Sprintf("%s-%d", prefix, i)
		applied := time.Now()
		w.mandate(name, spec)
		w.ready(name)
		took = append(took, time.Since(applied))
	}
	slices.Sort(took)
	return took
}

// Somebody in between answers the creates of one tenant with pages or redirects, such as a filter that sees something
// in their bodies. That changes nothing for another tenant on the same ClusterIdentityService.
func TestPagesForOneNamespaceDelayNoOther(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"pages": http.StatusOK, "redirects": http.StatusFound} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sandbox.Options{})
			tenant := w.inNewNamespace()
			var filtered atomic.Int32
			target, err := url.Parse(w.url)
			w.check(err)
			service := httputil.NewSingleHostReverseProxy(target)
			filter := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || !bytes.Contains(body, []byte(tenant.namespace)) {
					r.Body = io.NopCloser(bytes.NewReader(body))
					service.ServeHTTP(rw, r)
					return
				}
				filtered.Add(1)
				rw.Header().Set("Location", "/blocked")
				rw.WriteHeader(status)
				_, _ = io.WriteString(rw, "<html>blocked</html>")
			}))
			t.Cleanup(filter.Close)
			shared := "filtered-" + name
			behind := *w
			behind.url = filter.URL
			behind.newClusterService(shared, "namespaceSelector: {}")
			w.startFor([]*world{tenant})
			ref := fmt.Sprintf("{serviceRef: {kind: ClusterIdentityService, name: %s}}", shared)
			w.mandate("before", ref)
			w.ready("before")
			ready := w.clusterServiceCondition(shared)
			const mandates = 10
			for i := range mandates {
				tenant.mandate(fmt.Sprintf("acme-%d", i), ref)
			}
			w.eventually(func() (bool, string) {
				n, now := filtered.Load(), w.clusterServiceCondition(shared)
				return n >= mandates || now.Status != ready.Status, fmt.Sprintf("%d creates of %d were answered", n, mandates)
			})
			w.mandate("beside", ref)
			w.ready("beside")
			if now := w.clusterServiceCondition(shared); now.Status != ready.Status ||
				!now.LastTransitionTime.Equal(&ready.LastTransitionTime) {
				t.Errorf("the service is %+v, and was %+v", now, ready)
			}
			w.emails(2)
		})
	}
}

// clusterServiceCondition is the condition Ready of a ClusterIdentityService.
func (w *world) clusterServiceCondition(name string) metav1.Condition {
	w.Helper()
	service := clusterService(name)
	w.check(w.Get(w.Context(), client.ObjectKeyFromObject(service), service))
	return *cmp.Or(meta.FindStatusCondition(service.Status.Conditions, v1alpha1.ConditionReady), &metav1.Condition{})
}
