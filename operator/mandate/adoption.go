package mandate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/individuals"
	"github.com/mandate-io/idv/operator/ledger"
)

// RecoveredBy is how the application of a create without a clear answer became known.
type RecoveredBy string

// The ways. A create that is sent again with the same reference shows that the one before it created nothing.
const (
	RecoveredByRepeat       RecoveredBy = "repeat"
	RecoveredByNotification RecoveredBy = "notification"
	RecoveredByAdoption     RecoveredBy = "adoption"
)

// observeRecovery tells that the outcome of an earlier create, which was unknown, is known.
func (r *creator) observeRecovery(by RecoveredBy) {
	if r.recovered != nil {
		r.recovered(by)
	}
}

// adopt binds the application that a person has named, unless another Mandate has it.
func (r *creator) adopt(ctx context.Context) error {
	unknown := r.facts.create.unknown || r.facts.record.sent()
	err := r.bind(ctx, r.facts.create.adopt)
	if err == nil && r.facts.bound {
		if unknown {
			r.observeRecovery(RecoveredByAdoption)
		}
		log.FromContext(ctx).Info("Adopted the application", "applicationID", r.facts.id)
	}
	return err
}

// bind writes the application that was found to be this Mandate's into the ledger, unless another Mandate has it. That
// is done one at a time: of two Mandates that name one application, the second finds the first.
func (r *creator) bind(ctx context.Context, id int64) error {
	r.adoptionMutex.Lock()
	defer r.adoptionMutex.Unlock()
	name, spec := r.name(), r.recordOf()
	spec.ApplicationID = &id
	current, _, err := r.session.IsCurrent(ctx, r.liveServices, r.mandate.Namespace)
	if err != nil || !current { // it may allow other references since
		r.facts.failureReason = reasonStaleCache
		return err
	}
	other, err := r.adoptedByOther(ctx, spec)
	if err != nil || other {
		r.facts.create.adoptedByOther = other
		return err
	}
	if spec.SpecDigests, err = r.digestsToBind(ctx); err != nil || r.facts.failureReason != "" {
		return err
	}
	adopted, err := r.ledger.Adopt(ctx, name, r.record, spec)
	if err != nil {
		return r.reloadIfLost(ctx, err)
	}
	r.facts.id, r.facts.bound = id, true
	if r.facts.application.read() { // before it was known to be this Mandate's
		r.learn(func(s *localState) { s.readBy = r.knownAccount() })
	}
	r.setRecord(adopted)
	return nil
}

// digestsToBind are those of the spec that an application is bound to; nil if a Secret is missing or of no use. Another
// object of the name is then compared with what the service shows.
func (r *creator) digestsToBind(ctx context.Context) (*v1alpha1.SpecDigests, error) {
	if r.comparedWith != nil {
		return specDigests(r.salt(), &r.mandate.Spec, r.comparedWith), nil
	}
	live, err := r.readLiveSpec(ctx, r.live)
	switch {
	case err != nil:
		return nil, err
	case live.problem == reasonStaleCache:
		r.facts.failureReason = reasonStaleCache
		return nil, nil
	case live.problem != "":
		return nil, nil
	}
	return specDigests(r.salt(), &r.mandate.Spec, &live.request), nil
}

// adoptedByOther reports whether another Mandate has the application that this one is to have: by the ledger, or by
// its status, if its record is lost. Of another namespace, the status counts only with the same ClusterIdentityService.
// With an IdentityService, its editor chooses which id a service answers, and where it leads afterwards.
func (r *creator) adoptedByOther(ctx context.Context, spec v1alpha1.ApplicationRecordSpec) (bool, error) {
	other, err := r.ledger.HeldByOther(ctx, r.name(), spec)
	if err == nil && !other {
		other, err = r.boundToOther(ctx, *spec.ApplicationID, client.InNamespace(r.mandate.Namespace))
	}
	if err == nil && !other && spec.ServiceRef.Kind == v1alpha1.ServiceKindClusterIdentityService {
		ofService := client.MatchingFields{connection.MandateField: r.session.Key.String()}
		other, err = r.boundToOther(ctx, *spec.ApplicationID, ofService)
	}
	return other, err
}

// boundToOther looks for another Mandate whose status has the application.
func (r *creator) boundToOther(ctx context.Context, wanted int64, option client.ListOption) (bool, error) {
	var mandates v1alpha1.MandateList
	if err := r.cache.List(ctx, &mandates, client.UnsafeDisableDeepCopy, option); err != nil {
		return false, err
	}
	for i := range mandates.Items {
		other := &mandates.Items[i]
		if id := other.Status.ApplicationID; other.UID == r.mandate.UID || id == nil || *id != wanted {
			continue
		}
		if bound, err := r.sameService(ctx, other); bound || err != nil {
			return bound, err
		}
	}
	return false, nil
}

// sameService reports whether a Mandate with the id has its application at the service of this one.
func (r *creator) sameService(ctx context.Context, other *v1alpha1.Mandate) (bool, error) {
	if other.Namespace != r.mandate.Namespace {
		return strings.EqualFold(other.Status.Reference, r.reference), nil
	}
	service, _, err := r.services.Find(ctx, connection.KeyOf(other), other.Namespace)
	switch {
	case err != nil:
		return false, err
	case service == nil: // its URL is not known, so it may be the same application
		return true, nil
	default:
		return idv.NormalBaseURL(service.Settings().BaseURL) == r.session.Connection.URL, nil
	}
}

// newObject reports whether an application that another Mandate of the name created or adopted, or this one before an
// edit, is about to be bound to this one. If a person says in spec.adopt that it is this Mandate's, that is enough.
func (r *observer) newObject() bool {
	if r.readingCandidate {
		return true // nobody but a notification says that the application is this Mandate's
	}
	if r.facts.otherAccount() && !r.facts.application.referenceMatched {
		return true // nobody says so: another account has other ids
	}
	return r.mandate.Status.ApplicationID == nil && r.record != nil && r.facts.id != 0 &&
		(r.record.Spec.MandateRef.UID != r.mandate.UID || r.editedSince()) && r.facts.create.adopt != r.facts.id
}

// editedSince reports whether this Mandate was edited after a create was sent, and before the status showed that: the
// API server refuses it afterwards. The answer to an earlier request can come after the last one.
func (r *observer) editedSince() bool {
	create := ledger.CreateOf(r.record)
	return create != nil && (create.Edited || create.Generation != r.mandate.Generation)
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
		log.FromContext(ctx).Info("Failed to read the spec to compare", "error", apierror.Redact(err).Error())
	case live.problem != "":
		r.facts.failureReason = live.problem
	}
	if r.facts.failureReason != "" {
		return false
	}
	r.comparedWith = &live.request
	if fields := r.differences(live, application); len(fields) > 0 {
		r.facts.application.differs = true
		log.FromContext(ctx).Info("The application was created or adopted for another spec, or shows too little to compare",
			"applicationID", application.ID, "fields", fields)
	}
	return true
}

// liveSpec is what an application is made from, past the cache.
type liveSpec struct {
	request idv.NewApplication // personal data
	inputs  string             // digest of the versions of the spec and its Secrets
	problem string             // reason why a Secret is of no use; "" if nothing is wrong
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
// made of it and its Secrets. They are keyed, so that nobody can try out what a person's details are.
func specDigests(salt string, spec *v1alpha1.MandateSpec, request *idv.NewApplication) *v1alpha1.SpecDigests {
	digests := &v1alpha1.SpecDigests{
		Name: digest(salt, request.Name.Reveal()), MandateType: digest(salt, typeTexts(spec.MandateType)...),
	}
	for i := range request.Individuals {
		name := spec.Individuals[i].Name
		digests.Individuals = append(digests.Individuals, v1alpha1.IndividualDigest{
			Name: name, Digest: digest(salt, detailTexts(&request.Individuals[i])...),
		})
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
		if !slices.Contains(recorded.Individuals, individual) {
			fields = append(fields, fmt.Sprintf("spec.individuals[%s]", individual.Name))
		}
	}
	return fields
}
