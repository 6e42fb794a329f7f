package mandate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
)

// maxDetail bounds what a Secret may give for one field, in characters; the CRD bounds what is in the spec.
const maxDetail = 320

// resolve finds out what the application is to be made from, before there is an attempt. Where that is all in the spec,
// its generation is enough, and verify reads the spec itself. Secrets may be missing or of no use, which must
// not cost an attempt: then the live Mandate is read with them. The cache holds no personal data, and may be stale.
func (r *reconciliation) resolve(ctx context.Context) error {
	r.request = idv.NewApplication{}
	if !usesSecrets(r.mandate) {
		r.facts.inputs = r.specInputs()
		r.facts.inputs.resolved = true
		return nil
	}
	live := &v1alpha1.Mandate{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(r.mandate), live); err != nil {
		return err
	}
	if !r.current(live) {
		// The cache is stale. Its next event starts a new reconciliation.
		r.facts.failureReason = reasonStaleCache
		return nil
	}
	inputs, err := r.readInputs(ctx, live)
	if err != nil {
		return err
	}
	r.facts.inputs = inputs
	r.facts.inputs.resolved = true
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
	r.request = idv.NewApplication{
		Name: idv.Hide(live.Spec.Name), Reference: r.reference, MandateTypeID: mandateType,
		SuppressEmailNotification: live.Spec.SuppressEmailNotification,
	}
	if live.Spec.Name == "" {
		r.request.Name = idv.Hide(live.Name)
	}
	versions, logger := versionsOf(live, mandateType), log.FromContext(ctx)
	for i := range live.Spec.Individuals {
		individual := &live.Spec.Individuals[i]
		var secret corev1.Secret
		if ref := individual.DetailsSecretRef; ref != nil {
			err := r.live.Get(ctx, types.NamespacedName{Namespace: live.Namespace, Name: ref.Name}, &secret)
			if apierrors.IsNotFound(err) {
				logger.Info("Secret of an individual not found", "individual", individual.Name, "secret", ref.Name)
				return inputsFacts{problem: v1alpha1.ReasonSecretNotFound}, nil
			}
			if err != nil {
				return inputsFacts{}, err
			}
			_, _ = fmt.Fprintln(versions, secret.UID, secret.ResourceVersion)
		}
		details, problem := detailsOf(individual, &secret, r.reference)
		if problem != "" {
			logger.Info("Details of an individual are invalid",
				"individual", individual.Name, "secret", secret.Name, "problem", problem)
			return inputsFacts{problem: v1alpha1.ReasonSecretInvalid}, nil
		}
		r.request.Individuals = append(r.request.Individuals, details)
	}
	return inputsFacts{digest: inputsDigest(versions)}, nil
}

// detailsOf puts an individual together: a field of the spec wins over the Secret's. problem says which key of the
// Secret is of no use, and why; it holds no value.
func detailsOf(
	individual *v1alpha1.Individual, secret *corev1.Secret, mandateReference string,
) (details idv.NewIndividual, problem string) {
	pick := func(inline, key string) idv.Secret {
		if inline != "" {
			return idv.Hide(inline)
		}
		value := string(secret.Data[key])
		if !utf8.ValidString(value) || utf8.RuneCountInString(value) > maxDetail {
			problem = key + " is not text, or too long"
		}
		return idv.Hide(value)
	}
	details = idv.NewIndividual{
		Email: pick(individual.Email, "email"), Title: pick(individual.Title, "title"),
		FirstName: pick(individual.FirstName, "first_name"), MiddleName: pick(individual.MiddleName, "middle_name"),
		LastName: pick(individual.LastName, "last_name"), DateOfBirth: pick(individual.DateOfBirth, "date_of_birth"),
		Gender: pick(individual.Gender, "gender"), Reference: pick(individual.Reference, "reference"),
	}
	if details.Reference.Reveal() == "" {
		details.Reference = idv.Hide(reference.Individual(mandateReference, individual.Name))
	}
	if date := details.DateOfBirth.Reveal(); date != "" {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			problem = "date_of_birth is not a date such as 1990-02-28"
		}
	}
	if !emailRule.MatchString(details.Email.Reveal()) {
		problem = "email is missing, or not an e-mail address"
	}
	return details, cmp.Or(misnamedKey(secret), problem)
}

// emailRule is that of the CRD for inline addresses.
var emailRule = regexp.MustCompile(`^[^@[:space:]]+@[^@[:space:]]+$`)

var detailKeys = []string{
	"email", "title", "first_name", "middle_name", "last_name", "date_of_birth", "gender", "reference",
}

// misnamedKey finds a key like firstName: what is in it would not be sent, and an application cannot be changed.
func misnamedKey(secret *corev1.Secret) string {
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		folded := idv.FoldName(strings.ReplaceAll(key, ".", "")) // a Secret's key can have a '.' between words
		for _, meant := range detailKeys {
			if key != meant && folded == idv.FoldName(meant) {
				return key + " must be called " + meant
			}
		}
	}
	return ""
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
		if _, ok := idv.FindReference([]idv.Reference{candidate}, wanted); !ok || candidate.ID == found {
			continue
		}
		if found != 0 {
			return 0, false // a guess could e-mail people about the wrong thing
		}
		found = candidate.ID
	}
	return found, found != 0
}
