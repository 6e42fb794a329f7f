package operator_test

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

// The tests here measure time, so they are not parallel.

const (
	tenants, mandatesOfTenant = 4, 10
	newMandates               = 100
	newMandateEvery           = 100 * time.Millisecond
	newMandatesWaiting        = 5 // at most, so that a machine that cannot keep up builds no queue
	resends                   = 20
	resendEvery               = 500 * time.Millisecond
	// latestPOST is when a new Mandate or an action has to be at its service, of 99 in 100. Beside other work, all of
	// these limits are as many times longer as the machine is slower.
	latestPOST = 2 * time.Second
	// latestNotice is when a changed Secret has to have its effect.
	latestNotice = 30 * time.Second
)

// Forty Mandates in four namespaces read from a service that answers correctly, in small pieces: so slowly that it
// counts as failing, or nearly so. In another namespace, a new Mandate is at its service at once.
func TestSlowServiceDelaysNoOtherNamespace(t *testing.T) {
	for _, drip := range []time.Duration{28 * time.Second, 9 * time.Second} {
		t.Run(drip.String(), func(t *testing.T) {
			w, slow := newWorld(t, sandbox.Options{}), newWorld(t, sandbox.Options{})
			w.connect()
			worlds := slow.newTenants("{}", func(tenant *world) { tenant.connect() })
			w.startFor(worlds)
			slow.drip(worlds, drip, 30)
			w.createInTime("{}")
			if drip > 10*time.Second {
				worlds[0].serviceReady(metav1.ConditionFalse, v1alpha1.ReasonReadsFailing)
			}
		})
	}
}

// The same on one ClusterIdentityService. Its reads are slow, and its creates are not.
func TestNamespacesShareASlowService(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.newClusterService("shared", "namespaceSelector: {}")
	shared := "{" + sharedServiceRef + "}"
	worlds := w.newTenants(shared, func(*world) {})
	w.startFor(worlds)
	w.drip(worlds, 9*time.Second, 5)
	w.mandate("first", shared)
	w.ready("first")
	w.createInTime(shared)
	w.check(w.sandbox.ClearFaults(t.Context()))
	w.eventually(func() (bool, string) { // those that were created are read
		n := w.count(func(m *v1alpha1.Mandate) bool {
			return m.Status.State != "" && m.Status.ObservedGeneration == m.Generation
		})
		return n == newMandates+1, fmt.Sprintf("%d Mandates show the state of their application", n)
	})
}

// Forty reports are downloaded from a ClusterIdentityService, each in small pieces. In another namespace, invites are
// resent at once.
func TestSlowReportsDelayNoOtherNamespace(t *testing.T) {
	w := newWorld(t, sandbox.Options{})
	w.newClusterService("shared", "namespaceSelector: {}")
	worlds := []*world{w}
	for range tenants {
		worlds = append(worlds, w.inNewNamespace())
	}
	for _, tenant := range worlds {
		tenant.mandate("acme", "{"+sharedServiceRef+"}")
	}
	w.startFor(worlds)
	w.fault(control.Fault{
		Operation: control.IndividualReport, Kind: control.Drip, Times: control.Always, DelayMillis: 50_000,
	})
	for _, tenant := range worlds[1:] {
		tenant.play(tenant.ready("acme"), control.ResultPass)
		for i := range mandatesOfTenant {
			tenant.action(fmt.Sprintf("report-%d", i), report)
		}
	}
	w.ready("acme")
	w.eventually(func() (bool, string) {
		n := w.requests(control.IndividualReport)
		return n >= tenants, fmt.Sprintf("%d downloads are under way", n)
	})
	slowdown := await.Slowdown()
	var applied []time.Time
	ticker := time.NewTicker(resendEvery)
	defer ticker.Stop()
	for i := range resends {
		<-ticker.C
		applied = append(applied, time.Now())
		w.action(fmt.Sprintf("resend-%d", i), resend)
	}
	var waits []time.Duration
	w.eventually(func() (bool, string) {
		waits = nil
		emails, err := w.sandbox.Outbox(w.Context())
		w.check(err)
		for i := range emails {
			if emails[i].Kind == control.Resend {
				waits = append(waits, emails[i].Time.Sub(applied[len(waits)]))
			}
		}
		return len(waits) == resends, fmt.Sprintf("%d of %d invites were resent", len(waits), resends)
	})
	w.checkInTime(waits, slowdown)
}

// newTenants makes Mandates in several namespaces, after the setup of each.
func (w *world) newTenants(spec string, setup func(*world)) (worlds []*world) {
	w.Helper()
	for range tenants {
		tenant := w.inNewNamespace()
		setup(tenant)
		for i := range mandatesOfTenant {
			tenant.mandate(fmt.Sprintf("acme-%d", i), spec)
		}
		worlds = append(worlds, tenant)
	}
	return worlds
}

// startFor starts the operator for the namespace and those of others.
func (w *world) startFor(worlds []*world) {
	w.Helper()
	namespaces := []string{w.namespace}
	for _, tenant := range worlds {
		namespaces = append(namespaces, tenant.namespace)
	}
	w.start("--watch-namespaces="+strings.Join(namespaces, ","), "--zap-log-level=info")
}

// drip has a service answer reads slowly, once all Mandates have been created and read, and waits for so many reads.
func (w *world) drip(worlds []*world, duration time.Duration, reads int64) {
	w.Helper()
	for _, tenant := range worlds {
		for i := range mandatesOfTenant {
			tenant.ready(fmt.Sprintf("acme-%d", i))
		}
	}
	before := w.requests(control.RetrieveApplication)
	w.fault(control.Fault{
		Operation: control.RetrieveApplication, Kind: control.Drip, Times: control.Always,
		DelayMillis: duration.Milliseconds(),
	})
	w.eventually(func() (bool, string) {
		n := w.requests(control.RetrieveApplication) - before
		return n >= reads, fmt.Sprintf("%d reads are under way, want %d", n, reads)
	})
}

// createInTime applies new Mandates one by one, and checks how long each waits for its POST, and all of them take.
func (w *world) createInTime(spec string) {
	w.Helper()
	slowdown, began := await.Slowdown(), time.Now()
	applied := map[string]time.Time{}
	var waits []time.Duration
	untilWaiting := func(most int) {
		w.eventually(func() (bool, string) {
			waits = w.waitsForPOST(applied)
			return len(applied)-len(waits) <= most, fmt.Sprintf("%d of %d Mandates were created", len(waits), len(applied))
		})
	}
	ticker := time.NewTicker(newMandateEvery)
	defer ticker.Stop()
	for i := range newMandates {
		<-ticker.C
		untilWaiting(newMandatesWaiting - 1)
		name := fmt.Sprintf("new-%d", i)
		applied[w.namespace+"."+name] = time.Now()
		w.mandate(name, spec)
	}
	untilWaiting(0)
	took := time.Since(began)
	slowdown = max(slowdown, await.Slowdown())
	if limit := await.Stretch(newMandates*newMandateEvery+latestPOST, slowdown); took > limit {
		w.Errorf("%d creates took %s, want %s at most", newMandates, took, limit)
	}
	w.checkInTime(waits, slowdown)
}

// waitsForPOST is how long each Mandate waited that has been created since it was applied. They are by reference.
func (w *world) waitsForPOST(applied map[string]time.Time) (waits []time.Duration) {
	w.Helper()
	emails, err := w.sandbox.Outbox(w.Context())
	w.check(err)
	for i := range emails {
		if at, ok := applied[emails[i].Reference]; ok {
			waits = append(waits, emails[i].Time.Sub(at))
		}
	}
	return waits
}

// checkInTime checks how long people wait for a request that acts on them, and prints it. The machine was so many times
// slower before.
func (w *world) checkInTime(waits []time.Duration, slowdown float64) {
	w.Helper()
	limit := await.Stretch(latestPOST, max(slowdown, await.Slowdown()))
	slices.Sort(waits)
	round := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	p50, p99 := waits[len(waits)/2], waits[(len(waits)*99+99)/100-1]
	w.Logf("until POST: p50 %s, p99 %s, longest %s", round(p50), round(p99), round(waits[len(waits)-1]))
	if p99 > limit {
		w.Errorf("p99 until POST is %s, want %s at most", p99, limit)
	}
}

// Forty services never answer. A rotated Secret of another one is noticed all the same.
func TestSilentServicesDelayNoSecret(t *testing.T) {
	const silent = 40
	w := running(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	w.check(err)
	t.Cleanup(func() { _ = listener.Close() })
	w.secret("silent", map[string]string{"username": "a", "password": "b"})
	for i := range silent { // which connect, and wait
		w.apply(fmt.Sprintf("{kind: IdentityService, metadata: {name: silent-%d}, "+
			"spec: {credentialsSecretRef: {name: silent}, baseURL: 'http://%s'}}", i, listener.Addr()))
	}
	noticed := func(change func(), status metav1.ConditionStatus, reason string) {
		t.Helper()
		await.Within(t, latestNotice, func() {
			change()
			w.serviceReady(status, reason)
		})
	}
	wrong := func() { w.secret("idv", map[string]string{"username": "somebody", "password": "else"}) }
	noticed(wrong, metav1.ConditionFalse, v1alpha1.ReasonCredentialsInvalid)
	noticed(w.credentials, metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.serviceIs("silent-0", metav1.ConditionFalse, v1alpha1.ReasonUnreachable)
}
