package mandate

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/individuals"
	"github.com/mandate-io/idv/operator/ledger"
)

// liveSpec is what an application is made from, past the cache.
type liveSpec struct {
	request  idv.NewApplication // personal data
	inputs   string             // digest of the versions of the spec and its Secrets
	problem  string             // reason why a Secret is of no use; "" if nothing is wrong
	problems []v1alpha1.Problem // what is wrong with the Secrets
}

// readLiveSpec reads the spec of this Mandate, and its Secrets. If it is not the one in the cache any more, that ends
// the reconciliation.
func (r *scope) readLiveSpec(ctx context.Context, reader client.Reader) (spec liveSpec, err error) {
	live := &v1alpha1.Mandate{}
	if err := client.IgnoreNotFound(reader.Get(ctx, r.name(), live)); err != nil {
		return spec, err
	}
	if live.UID != r.mandate.UID || live.Generation != r.mandate.Generation {
		spec.problem = reasonStaleCache
		return spec, nil
	}
	mandateType, _ := r.mandateTypeID(live.Spec.MandateType)
	return r.readSpec(ctx, reader, live, mandateType)
}

// readSpec makes the request of a live Mandate and its Secrets.
func (r *scope) readSpec(
	ctx context.Context, reader client.Reader, live *v1alpha1.Mandate, mandateType int64,
) (liveSpec, error) {
	spec := liveSpec{request: idv.NewApplication{
		Name: nameOf(live), Reference: r.reference, MandateTypeID: mandateType,
		SuppressEmailNotification: live.Spec.SuppressEmailNotification,
	}}
	versions := versionsOf(live, mandateType)
	for i := range live.Spec.Individuals {
		details, err := individuals.Read(ctx, reader, live.Namespace, &live.Spec.Individuals[i], r.reference)
		if err != nil {
			return spec, err
		}
		spec.problem = cmp.Or(spec.problem, details.Reason())
		spec.problems = append(spec.problems, details.Problems...)
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

// mandateTypeID finds the id to send. An id is sent as it is: the shape of the reference data is not documented, so
// that it is missing there proves nothing.
func (r *scope) mandateTypeID(selector v1alpha1.MandateTypeSelector) (int64, bool) {
	if selector.ID != nil {
		return *selector.ID, true
	}
	ids := r.matchingTypes(selector)
	if len(ids) != 1 { // a guess could e-mail people about the wrong thing
		return 0, false
	}
	return ids[0], true
}

// matchingTypes are the ids of the mandate types that a selector selects by code or name.
func (r *scope) matchingTypes(selector v1alpha1.MandateTypeSelector) (ids []int64) {
	references, wanted := r.session.Connection.References, idv.Reference{Code: selector.Code, Name: selector.Name}
	if references == nil {
		return nil
	}
	for _, candidate := range references.MandateTypes {
		matches := candidate.ID != 0 && len(idv.MatchReferences([]idv.Reference{candidate}, wanted)) > 0
		if matches && !slices.Contains(ids, candidate.ID) {
			ids = append(ids, candidate.ID)
		}
	}
	return ids
}

// hasErased reports whether the details of an individual were erased. Nothing is created for such a Mandate, and
// nothing but its name tells for whom its application was created.
func (r *scope) hasErased() bool {
	return slices.ContainsFunc(r.mandate.Spec.Individuals, func(i v1alpha1.Individual) bool { return i.Erased })
}

func usesSecrets(mandate *v1alpha1.Mandate) bool {
	fromSecret := func(i v1alpha1.Individual) bool { return i.DetailsSecretRef != nil }
	return slices.ContainsFunc(mandate.Spec.Individuals, fromSecret)
}

// versionsOf starts the hash of all that a request is made from, by version: a hash of a birth date is a birth date.
func versionsOf(mandate *v1alpha1.Mandate, mandateType int64) hash.Hash {
	versions := sha256.New()
	_, _ = fmt.Fprintln(versions, mandate.UID, mandate.Generation, mandateType)
	return versions
}

func inputsDigest(versions hash.Hash) string { return hex.EncodeToString(versions.Sum(nil)[:16]) }

// newObject reports whether an application that another Mandate of the name created or adopted, or this one before an
// edit, is about to be bound to this one, and nobody says that it is this Mandate's.
func (r *observer) newObject() bool {
	if r.readingCandidate {
		return true // nobody but a notification says that the application is this Mandate's
	}
	if r.facts.otherAccount() && r.facts.application.reference != referenceMatched {
		return true // nobody says so: another account has other ids
	}
	if r.mandate.Status.ApplicationID != nil || r.record == nil || r.facts.record.id == 0 {
		return false
	}
	if r.record.Spec.MandateRef.UID == r.mandate.UID {
		return r.editedSince() && !r.isAdopted()
	}
	return !r.isAdopted() || !ptr.Equal(r.mandate.Status.AdoptableApplicationID, &r.facts.record.id)
}

// isAdopted reports whether spec.adopt names the application of the record, also after the service has moved. That may
// be left over from the Mandate before, so it overrides no difference that its author has not seen.
func (r *observer) isAdopted() bool {
	return r.facts.record.id != 0 && r.facts.create.adopt == r.facts.record.id
}

// showAdoptable shows the application of the record if the spec differs from it, or cannot be compared with it, and
// spec.adopt does not name it. A person who sets spec.adopt then has seen that.
func (r *observer) showAdoptable(status *v1alpha1.MandateStatus) {
	id := r.facts.record.id
	differs := r.facts.application.differs || len(r.facts.problems.inputs) > 0 && r.newObject()
	switch {
	case status.ApplicationID != nil:
		status.AdoptableApplicationID = nil
	case differs && id != 0 && !r.isAdopted():
		status.AdoptableApplicationID = &id
	}
}

// editedSince reports whether this Mandate may have been edited after a create was sent or its application was adopted,
// and before the status showed that: the API server refuses it afterwards. The answer to an earlier request can come
// after the last one.
func (r *observer) editedSince() bool {
	create := ledger.CreateOf(r.record)
	return create == nil || create.Edited || create.Generation != r.mandate.Generation
}

// compareSpec compares the spec of a new object with what the application was created or adopted for, by what the
// record has of that, and otherwise by what the service shows. The status is written for the Mandate that is compared
// here, or not at all. It reports false if the spec or its Secrets cannot be read.
func (r *observer) compareSpec(ctx context.Context, application *idv.Application) bool {
	if !r.newObject() {
		return true
	}
	live, err := r.readLiveSpec(ctx, r.live)
	switch {
	case err != nil:
		r.facts.failureReason = v1alpha1.ReasonReadFailed
		r.failed(engine.ServerProblem("spec", "", "read the Mandate and its Secrets", err))
		log.FromContext(ctx).Info("Failed to read the spec to compare", "error", apierror.Redact(err).Error())
	case live.problem != "":
		r.facts.failureReason, r.facts.problems.inputs = live.problem, live.problems
	}
	if r.facts.failureReason != "" {
		return false
	}
	r.comparedWith = &live.request
	if fields := r.differences(live, application); len(fields) > 0 {
		r.facts.application.differs = true
		r.differs(fields)
		log.FromContext(ctx).Info("The application was created or adopted for another spec, or shows too little to compare",
			"applicationID", application.ID, "fields", fields)
	}
	return true
}

// differences names the fields of the spec that are not as the application was created or adopted for. Where the record
// does not say so, the service has to show the individuals, unless the spec is the one that was sent.
func (r *observer) differences(live liveSpec, application *idv.Application) []string {
	shown := r.shownDifferences(live.request, application)
	if r.record == nil || r.record.Spec.SpecDigests == nil {
		if len(shown) == 0 && !r.isSent(live) && !individuals.Identified(application.Individuals) {
			return []string{"spec.individuals"}
		}
		return shown
	}
	digests := specDigests(r.salt(), &r.mandate.Spec, &live.request)
	recorded := digestDifferences(r.record.Spec.SpecDigests, digests)
	if len(recorded) == 0 && !r.readingCandidate && !r.facts.otherAccount() {
		return nil // the service may show what was changed there
	}
	return append(recorded, shown...)
}

// isSent reports whether the spec and its Secrets are those that the create was made from.
func (r *observer) isSent(live liveSpec) bool {
	create := ledger.CreateOf(r.record)
	return create != nil && create.Sends > 0 && !create.Edited && create.Inputs == live.inputs
}

// shownDifferences names the fields of the spec that are not as the service shows them, each only if it shows it.
func (r *observer) shownDifferences(sent idv.NewApplication, shown *idv.Application) (fields []string) {
	if name := shown.Name.Reveal(); name != "" && !individuals.SameText(name, sent.Name.Reveal()) {
		fields = append(fields, "spec.name")
	}
	if r.otherType(shown.MandateType) {
		fields = append(fields, "spec.mandateType")
	}
	switch n := len(shown.Individuals); {
	case n != 0 && n != len(sent.Individuals):
		return append(fields, "spec.individuals")
	case !individuals.Identified(shown.Individuals):
		return fields
	}
	expected := make([]individuals.Expected, len(sent.Individuals))
	for i, one := range sent.Individuals {
		expected[i] = individuals.Expected{
			Name: r.mandate.Spec.Individuals[i].Name, Reference: one.Reference.Reveal(), Email: one.Email.Reveal(),
		}
	}
	for i, found := range individuals.Match(expected, shown.Individuals).Individuals {
		path := fmt.Sprintf("spec.individuals[%s]", expected[i].Name)
		switch {
		case r.mandate.Spec.Individuals[i].Erased: // nobody else is asked for
		case found == nil:
			fields = append(fields, path+".reference")
		case found.Email.Reveal() != "" && !individuals.SameOrMasked(found.Email.Reveal(), expected[i].Email):
			fields = append(fields, path+".email")
		}
	}
	return fields
}

// otherType reports whether the service shows another mandate type than the one that the spec selects. It is the same
// if its id, or what the spec selects it by, is the same: a service may have made its types anew.
func (r *observer) otherType(shown idv.Reference) bool {
	selector := r.mandate.Spec.MandateType
	id, found := r.mandateTypeID(selector)
	compared := false
	same := func(shown, wanted string) bool {
		known := shown != "" && wanted != ""
		compared = compared || known
		return known && individuals.SameText(shown, wanted)
	}
	if found && shown.ID != 0 {
		compared = true
		if id == shown.ID {
			return false
		}
	}
	return !same(shown.Code, selector.Code) && !same(shown.Name, selector.Name) && compared
}

// specDigests are those of the part of a spec that cannot change once its application exists: of the request that is
// made of it and its Secrets. They are keyed, so that nobody can try out what a person's details are. That of an
// individual that was erased is empty.
func specDigests(salt string, spec *v1alpha1.MandateSpec, request *idv.NewApplication) *v1alpha1.SpecDigests {
	digests := &v1alpha1.SpecDigests{
		Name: digest(salt, request.Name.Reveal()), MandateType: digest(salt, typeTexts(spec.MandateType)...),
	}
	for i := range request.Individuals {
		of := v1alpha1.IndividualDigest{Name: spec.Individuals[i].Name}
		if !spec.Individuals[i].Erased {
			of.Digest = digest(salt, detailTexts(&request.Individuals[i])...)
		}
		digests.Individuals = append(digests.Individuals, of)
	}
	return digests
}

func typeTexts(selector v1alpha1.MandateTypeSelector) []string {
	if selector.ID != nil {
		return []string{fmt.Sprint(*selector.ID)}
	}
	return []string{"", selector.Code, selector.Name}
}

// detailTexts are the details of a person, as they are sent. A middle name that is empty is sent, too.
func detailTexts(i *idv.NewIndividual) []string {
	texts := []string{
		i.Reference.Reveal(), i.Email.Reveal(), i.Title.Reveal(), i.FirstName.Reveal(), i.LastName.Reveal(),
		i.DateOfBirth.Reveal(), i.Gender.Reveal(),
	}
	if i.MiddleName != nil {
		texts = append(texts, i.MiddleName.Reveal())
	}
	return texts
}

// digest ignores letter case and surrounding spaces, as the comparison with what the service shows does.
func digest(salt string, texts ...string) string {
	for i, text := range texts {
		texts[i] = strings.ToLower(strings.TrimSpace(text))
	}
	h := hmac.New(sha256.New, []byte(salt))
	_ = json.NewEncoder(h).Encode(texts) // texts always encode, and a hash takes all
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// digestDifferences names the fields of a spec that are not as they were when the application was created or adopted.
// An individual that was erased since is the one of its name.
func digestDifferences(recorded, live *v1alpha1.SpecDigests) (fields []string) {
	if recorded.Name != live.Name {
		fields = append(fields, "spec.name")
	}
	if recorded.MandateType != live.MandateType {
		fields = append(fields, "spec.mandateType")
	}
	if len(recorded.Individuals) != len(live.Individuals) {
		return append(fields, "spec.individuals")
	}
	for _, individual := range live.Individuals {
		same := func(before v1alpha1.IndividualDigest) bool {
			return before.Name == individual.Name && (individual.Digest == "" || before.Digest == individual.Digest)
		}
		if !slices.ContainsFunc(recorded.Individuals, same) {
			fields = append(fields, fmt.Sprintf("spec.individuals[%s]", individual.Name))
		}
	}
	return fields
}
