package mandate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/individuals"
)

// resolve finds out what the application is to be made from, before there is an attempt. Where that is all in the spec,
// its generation is enough, and verify reads the spec itself. Secrets may be missing or of no use, which must
// not cost an attempt: then the live Mandate is read with them. The cache holds no personal data, and may be stale.
func (r *reconciliation) resolve(ctx context.Context) error {
	r.request = idv.NewApplication{}
	if !usesSecrets(r.mandate) {
		r.facts.inputs = r.specInputs()
		return nil
	}
	live := &v1alpha1.Mandate{}
	if err := r.live.Get(ctx, r.name(), live); err != nil {
		return err
	}
	if !r.isCurrent(live) || live.Status.ApplicationID != nil {
		// The cache is stale. Its next event starts a new reconciliation.
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	inputs, err := r.readInputs(ctx, live)
	if err != nil {
		return err
	}
	r.facts.inputs = inputs
	return nil
}

func usesSecrets(mandate *v1alpha1.Mandate) bool {
	fromSecret := func(i v1alpha1.Individual) bool { return i.DetailsSecretRef != nil }
	return slices.ContainsFunc(mandate.Spec.Individuals, fromSecret)
}

// specInputs are the inputs of a Mandate that uses no Secrets.
func (r *reconciliation) specInputs() inputsFacts {
	mandateType, ok := r.mandateTypeID(r.mandate.Spec.MandateType)
	if !ok {
		return inputsFacts{problem: v1alpha1.ReasonMandateTypeNotFound}
	}
	return inputsFacts{digest: inputsDigest(versionsOf(r.mandate, mandateType))}
}

// versionsOf starts the hash of all that a request is made from, by version: a hash of a birth date is a birth date.
func versionsOf(mandate *v1alpha1.Mandate, mandateType int64) hash.Hash {
	versions := sha256.New()
	_, _ = fmt.Fprintln(versions, mandate.UID, mandate.Generation, mandateType)
	return versions
}

func inputsDigest(versions hash.Hash) string { return hex.EncodeToString(versions.Sum(nil)[:16]) }

func (r *reconciliation) readInputs(ctx context.Context, live *v1alpha1.Mandate) (inputsFacts, error) {
	mandateType, ok := r.mandateTypeID(live.Spec.MandateType)
	if !ok {
		return inputsFacts{problem: v1alpha1.ReasonMandateTypeNotFound}, nil
	}
	spec, err := r.readSpec(ctx, live, mandateType)
	if err != nil || spec.problem != "" {
		return inputsFacts{problem: spec.problem}, err
	}
	r.request = spec.request
	return inputsFacts{digest: spec.inputs}, nil
}

// readSpec makes the request of a live Mandate and its Secrets.
func (r *reconciliation) readSpec(ctx context.Context, live *v1alpha1.Mandate, mandateType int64) (liveSpec, error) {
	spec := liveSpec{request: idv.NewApplication{
		Name: nameOf(live), Reference: r.reference, MandateTypeID: mandateType,
		SuppressEmailNotification: live.Spec.SuppressEmailNotification,
	}}
	versions := versionsOf(live, mandateType)
	for i := range live.Spec.Individuals {
		details, err := r.readDetails(ctx, live, &live.Spec.Individuals[i])
		if err != nil {
			return spec, err
		}
		spec.problem = cmp.Or(spec.problem, details.Reason)
		if secret := details.Secret; secret != nil {
			_, _ = fmt.Fprintln(versions, secret.UID, secret.ResourceVersion)
		}
		spec.request.Individuals = append(spec.request.Individuals, details.NewIndividual)
	}
	spec.inputs = inputsDigest(versions)
	return spec, nil
}

// nameOf is the name of the application.
func nameOf(live *v1alpha1.Mandate) idv.Secret {
	return idv.Hide(cmp.Or(live.Spec.Name, live.Name))
}

// readDetails reads the details of an individual, and logs what is wrong with its Secret.
func (r *reconciliation) readDetails(
	ctx context.Context, live *v1alpha1.Mandate, individual *v1alpha1.Individual,
) (individuals.Details, error) {
	details, err := individuals.Read(ctx, r.live, live.Namespace, individual, r.reference)
	if details.Reason != "" {
		secret := ""
		if individual.DetailsSecretRef != nil {
			secret = individual.DetailsSecretRef.Name
		}
		log.FromContext(ctx).Info("Details of an individual are not found or invalid",
			"reason", details.Reason, "individual", individual.Name, "secret", secret, "problem", details.Problem)
	}
	return details, err
}

// mandateTypeID finds the id to send. An id is sent as it is: the shape of the reference data is not documented, so
// that it is missing there proves nothing.
func (r *reconciliation) mandateTypeID(selector v1alpha1.MandateTypeSelector) (int64, bool) {
	if selector.ID != nil {
		return *selector.ID, true
	}
	if r.session.Connection.References == nil {
		return 0, false
	}
	wanted := idv.Reference{Code: selector.Code, Name: selector.Name}
	found := int64(0)
	for _, candidate := range r.session.Connection.References.MandateTypes {
		if len(idv.MatchReferences([]idv.Reference{candidate}, wanted)) == 0 || candidate.ID == found {
			continue
		}
		if found != 0 {
			return 0, false // a guess could e-mail people about the wrong thing
		}
		found = candidate.ID
	}
	return found, found != 0
}
