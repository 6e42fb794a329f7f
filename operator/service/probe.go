package service

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// probe is a request for the reference data of a service, apart from the workers. A service may take long to answer, or
// never answer, and meanwhile the Secrets of all others have to be read.
type probe struct {
	cancel context.CancelFunc

	done       chan struct{} // closed when the following are set
	references *idv.References
	err        error
	permitted  bool // although the reference data is forbidden
}

// probe takes over what the last probe has found, and begins another one if it is time to. It reports whether nothing
// is known so far: the first probe of a client is under way. When a probe ends, the service is reconciled. The circuit
// breaker learns of the result by itself.
func (r *Reconciler) probe(ctx context.Context, key connection.Key, e *entry) (unknown bool) {
	e.takeProbe(ctx)
	if now := time.Now(); e.probe == nil && e.probeDue(now) {
		e.probe = r.startProbe(ctx, key, e.client)
	}
	return e.probe != nil && !e.connected && e.failure == ""
}

// startProbe begins a probe. It ends with the client, not with this reconciliation.
func (r *Reconciler) startProbe(ctx context.Context, key connection.Key, client *idv.Client) *probe {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &probe{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer cancel()
		p.references, p.err = client.RetrieveReferences(ctx)
		p.permitted = idv.IsForbidden(p.err) && mayRead(ctx, client)
		close(p.done)
		r.enqueue(key)
	}()
	return p
}

// mayRead reports whether a user who may not read the reference data may read applications. It asks for one that cannot
// exist.
func mayRead(ctx context.Context, client *idv.Client) bool {
	_, err := client.RetrieveApplication(idv.WithUntrustedID(ctx), idv.NoSuchID)
	return err == nil || !idv.IsForbidden(err) && !idv.IsServiceFault(err) && idv.OutcomeOf(err).NothingDone()
}

// takeProbe takes over what the probe has found, if it has ended.
func (e *entry) takeProbe(ctx context.Context) {
	if e.probe == nil {
		return
	}
	select {
	case <-e.probe.done:
	default:
		return
	}
	p := e.probe
	e.probe = nil
	e.recordProbe(time.Now(), p)
	if p.err != nil {
		log.FromContext(ctx).Info("Failed to read the reference data of the identity service", "error", p.err.Error())
	}
}

// probeDue reports whether it is time for a probe: now and then while the circuit is closed, and when it is half-open
// and a login or the reference data is the test.
func (e *entry) probeDue(now time.Time) bool {
	state, _, _ := e.breaker.Status()
	scheduled := state == connection.Closed && !now.Before(e.nextProbe)
	return !now.Before(e.notBefore) && (scheduled || e.breaker.AwaitsProbe())
}

// recordProbe takes over what a probe found.
func (e *entry) recordProbe(now time.Time, p *probe) {
	err := p.err
	e.failure, e.cause = idv.KindOf(err), idv.CauseOf(err)
	if idv.IsForbidden(err) {
		e.breaker.Permit(p.permitted)
	}
	switch {
	case err == nil:
		e.references, e.connected = selectableReferences(p.references), true
	case p.permitted:
		e.references, e.connected = nil, true
	}
	if err == nil || p.permitted {
		e.nextProbe, e.notBefore = now.Add(probeInterval), time.Time{}
		return
	}
	e.nextProbe = now.Add(busyInterval)
	e.notBefore = now.Add(idv.RetryAfterOf(err))
	if state, _, _ := e.breaker.Status(); state != connection.Open && e.notBefore.Before(e.nextProbe) {
		e.notBefore = e.nextProbe // an open circuit has a pause of its own
	}
}

// stopProbe drops a probe: what it finds is not about the next client.
func (e *entry) stopProbe() {
	if e.probe != nil {
		e.probe.cancel()
		e.probe = nil
	}
}
