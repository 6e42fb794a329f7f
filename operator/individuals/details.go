package individuals

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/operator/secrets"
)

// maxDetail bounds what a Secret may give for one field, in characters; the CRD bounds what is in the spec.
const maxDetail = 320

// Details are those of one individual, put together from the spec and its Secret.
type Details struct {
	// NewIndividual is what is sent. With a Reason, it has what does not depend on the Secret, and no more.
	idv.NewIndividual
	// Reason is SecretNotFound, SecretNotForThis or SecretInvalid; "" if nothing is wrong. Problem names the key of the
	// Secret that is invalid, and says why; it holds no value.
	Reason, Problem string
	// Secret is nil if the spec names none, or if there is none for an individual.
	Secret *corev1.Secret
}

// Read reads the details of an individual of a live Mandate, whose application has the reference. An error is one of
// the API server.
func Read(
	ctx context.Context, reader client.Reader, namespace string, individual *v1alpha1.Individual,
	applicationReference string,
) (Details, error) {
	ref := individual.DetailsSecretRef
	if ref == nil {
		return detailsOf(individual, &corev1.Secret{}, applicationReference), nil
	}
	named := v1alpha1.NamespacedSecretReference{Namespace: namespace, Name: ref.Name}
	secret, err := secrets.Get(ctx, reader, named, v1alpha1.SecretUseIndividual)
	switch {
	case apierrors.IsNotFound(err):
		return Details{NewIndividual: inline(individual), Reason: v1alpha1.ReasonSecretNotFound}, nil
	case errors.Is(err, secrets.ErrNotForThis):
		return Details{NewIndividual: inline(individual), Reason: v1alpha1.ReasonSecretNotForThis}, nil
	case err != nil:
		return Details{}, err
	}
	details := detailsOf(individual, secret, applicationReference)
	details.Secret = secret
	return details, nil
}

// inline are the details that are in the spec.
func inline(i *v1alpha1.Individual) idv.NewIndividual {
	details := idv.NewIndividual{
		Email: idv.Hide(i.Email), Title: idv.Hide(i.Title), FirstName: idv.Hide(i.FirstName), LastName: idv.Hide(i.LastName),
		DateOfBirth: idv.Hide(i.DateOfBirth), Gender: idv.Hide(i.Gender), Reference: idv.Hide(i.Reference),
	}
	if i.MiddleName != nil {
		name := idv.Hide(*i.MiddleName)
		details.MiddleName = &name
	}
	return details
}

// detailsOf puts an individual together: a field of the spec wins over the Secret's.
func detailsOf(individual *v1alpha1.Individual, secret *corev1.Secret, applicationReference string) Details {
	details, problem := inline(individual), ""
	fields := map[string]*idv.Secret{
		"email": &details.Email, "title": &details.Title, "first_name": &details.FirstName, "last_name": &details.LastName,
		"date_of_birth": &details.DateOfBirth, "gender": &details.Gender, "reference": &details.Reference,
	}
	if _, given := secret.Data["middle_name"]; given && details.MiddleName == nil {
		details.MiddleName = new(idv.Secret)
		fields["middle_name"] = details.MiddleName
	}
	for _, key := range detailKeys {
		field, value := fields[key], string(secret.Data[key])
		if field == nil || field.Reveal() != "" {
			continue
		}
		if !utf8.ValidString(value) || utf8.RuneCountInString(value) > maxDetail {
			problem = key + " is not text, or too long"
		}
		*field = idv.Hide(value)
	}
	if details.Reference.Reveal() == "" {
		details.Reference = idv.Hide(reference.Individual(applicationReference, individual.Name))
	}
	if date := details.DateOfBirth.Reveal(); date != "" {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			problem = "date_of_birth is not a date such as 1990-02-28"
		}
	}
	if !emailRule.MatchString(details.Email.Reveal()) {
		problem = "email is missing, or not an e-mail address"
	}
	if problem = cmp.Or(misnamedKey(secret), problem); problem != "" {
		return Details{NewIndividual: inline(individual), Reason: v1alpha1.ReasonSecretInvalid, Problem: problem}
	}
	return Details{NewIndividual: details}
}

// emailRule is that of the CRD for inline addresses.
var emailRule = regexp.MustCompile(`^[^@[:space:]]+@[^@[:space:]]+$`)

var detailKeys = []string{
	"email", "title", "first_name", "middle_name", "last_name", "date_of_birth", "gender", "reference",
}

// misnamedKey finds a key like firstName: what is in it would not be sent, and an application cannot be changed.
func misnamedKey(secret *corev1.Secret) string {
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		folded := wire.FoldName(strings.ReplaceAll(key, ".", "")) // a Secret's key can have a '.' between words
		for _, meant := range detailKeys {
			if key != meant && folded == wire.FoldName(meant) {
				return key + " must be called " + meant
			}
		}
	}
	return ""
}
