package mandate

import (
	"context"
	"hash/maphash"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/individuals"
)

// identify finds which individual of the answer is which of the spec. The ids in the status are compared with what was
// sent, once in this process and whenever the answer shows something else: an earlier version may have guessed them,
// and a service may change them. It reports false if what was sent cannot be read.
func (r *reconciliation) identify(ctx context.Context, application *idv.Application) bool {
	answered := application.Individuals
	expected := individuals.Recorded(individuals.Known(r.mandate), r.record)
	r.matching = individuals.Match(expected, answered)
	if individuals.Identified(answered) && !r.compared() && !r.facts.deletion.requested {
		expected, err := r.sent(ctx, expected)
		if err != nil {
			r.facts.failureReason = v1alpha1.ReasonReadFailed
			log.FromContext(ctx).Info("Failed to read the individuals to compare", "error", apierror.Redact(err).Error())
		}
		if r.facts.failureReason != "" {
			return false
		}
		r.matching = individuals.Match(expected, answered)
		r.remember(expected)
	}
	a := &r.facts.application
	switch {
	case r.matching.Complete:
		a.individuals = individualsMatched
	case r.matching.Fewer:
		a.individuals = individualsFewer
	default:
		a.individuals = individualsUnmatched
	}
	if a.unmatched() {
		log.FromContext(ctx).Info("The individuals of the application do not match those of the spec",
			"applicationID", application.ID, "individuals", len(answered), "unmatched", r.unmatchedNames())
	}
	return true
}

// compared reports whether this process has compared these very individuals with what was sent.
func (r *reconciliation) compared() bool {
	return r.matching.Complete && r.localState.Get(r.mandate).identities == r.identities()
}

// remember keeps that the individuals were compared with what was sent, if all of that is known.
func (r *reconciliation) remember(expected []individuals.Expected) {
	known := r.matching.Complete
	for _, e := range expected {
		known = known && e.Reference != ""
	}
	if known {
		r.localState.Update(r.mandate, func(s *localState) { s.identities = r.identities() })
	}
}

var identitiesSeed = maphash.MakeSeed()

// identities is a digest of who the individuals of the spec are in the answer. It is compared and never stored.
func (r *reconciliation) identities() uint64 {
	var digest maphash.Hash
	digest.SetSeed(identitiesSeed)
	add := func(text string) {
		_, _ = digest.WriteString(strconv.Quote(text))
	}
	add(strconv.FormatInt(r.mandate.Generation, 10))
	for i, found := range r.matching.Individuals {
		add(r.mandate.Spec.Individuals[i].Name)
		if found != nil {
			add(strconv.FormatInt(found.ID, 10))
			add(found.Reference.Reveal())
			add(found.Email.Reveal())
		}
	}
	return digest.Sum64()
}

// sent adds what the individuals were sent with. This reconciliation may have sent it; otherwise it is read: the cache
// does not have it.
func (r *reconciliation) sent(ctx context.Context, known []individuals.Expected) ([]individuals.Expected, error) {
	if request := r.request.Individuals; len(request) == len(known) {
		for i := range request {
			known[i].Reference, known[i].Email = request[i].Reference.Reveal(), request[i].Email.Reveal()
		}
		return known, nil
	}
	live := &v1alpha1.Mandate{}
	err := r.live.Get(ctx, r.name(), live)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	frozen := r.mandate.Status.ApplicationID != nil
	if live.UID != r.mandate.UID || live.Generation != r.mandate.Generation && !frozen {
		r.facts.failureReason = reasonStaleCache
		return nil, nil
	}
	return individuals.Sent(ctx, r.live, known, live, r.reference)
}

func (r *reconciliation) unmatchedNames() (names []string) {
	for i, found := range r.matching.Individuals {
		if found == nil {
			names = append(names, r.mandate.Spec.Individuals[i].Name)
		}
	}
	return names
}
