package individuals

import (
	"context"
	"errors"
	"fmt"
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
	// NewIndividual is what is sent. With Problems, it has what does not depend on the Secret, and no more.
	idv.NewIndividual
	// Problems are what is wrong with the Secret, with the reason SecretNotFound, SecretNotForThis or SecretInvalid. They
	// name the Secret and its keys, and hold no value.
	Problems []v1alpha1.Problem
	// Secret is nil if the spec names none, or if there is none for an individual.
	Secret *corev1.Secret
}

// Read reads the details of an individual of a live Mandate, whose application has the reference. Of one that was
// erased, nothing is known. An error is one of the API server.
func Read(
	ctx context.Context, reader client.Reader, namespace string, individual *v1alpha1.Individual,
	applicationReference string,
) (Details, error) {
	ref := individual.DetailsSecretRef
	if individual.Erased {
		return Details{}, nil // whatever its Secret still has
	}
	if ref == nil {
		return detailsOf(individual, &corev1.Secret{}, applicationReference), nil
	}
	named := v1alpha1.NamespacedSecretReference{Namespace: namespace, Name: ref.Name}
	secret, err := secrets.Get(ctx, reader, named, v1alpha1.SecretUseIndividual)
	switch {
	case apierrors.IsNotFound(err):
		return unusable(individual, v1alpha1.ReasonSecretNotFound, "The Secret %s does not exist in this namespace. "+
			"Create it, or correct the name.", ref.Name), nil
	case errors.Is(err, secrets.ErrNotForThis):
		return unusable(individual, v1alpha1.ReasonSecretNotForThis, "The Secret %[1]s is not for an individual. If it is "+
			"meant to be sent, run: kubectl label secret %[1]s idv.mandate.io/use=individual", ref.Name), nil
	case err != nil:
		return Details{}, err
	}
	details := detailsOf(individual, secret, applicationReference)
	details.Secret = secret
	return details, nil
}

// Reason is that of the first problem; "" if nothing is wrong.
func (d *Details) Reason() string {
	if len(d.Problems) == 0 {
		return ""
	}
	return d.Problems[0].Reason
}

// unusable are the details of an individual whose Secret cannot be used.
func unusable(individual *v1alpha1.Individual, reason, message string, names ...any) Details {
	problem := problemOf(individual, reason, message, names...)
	return Details{NewIndividual: inline(individual), Problems: []v1alpha1.Problem{problem}}
}

// problemOf is one with the Secret of an individual.
func problemOf(individual *v1alpha1.Individual, reason, message string, names ...any) v1alpha1.Problem {
	field := "spec.individuals[" + individual.Name + "]"
	if individual.DetailsSecretRef != nil {
		field += ".detailsSecretRef"
	}
	return v1alpha1.Problem{Field: field, Reason: reason, Message: fmt.Sprintf(message, names...)}
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
	details := inline(individual)
	var wrong []v1alpha1.Problem
	invalid := func(key, why string) {
		wrong = append(wrong, problemOf(individual, v1alpha1.ReasonSecretInvalid,
			"The key %s of the Secret %s %s.", key, secret.Name, why))
	}
	misnamedKeys(secret, invalid)
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
			invalid(key, "is not text, or is too long")
		}
		*field = idv.Hide(value)
	}
	if details.Reference.Reveal() == "" {
		details.Reference = idv.Hide(reference.Individual(applicationReference, individual.Name))
	}
	if date := details.DateOfBirth.Reveal(); date != "" {
		if _, err := time.Parse(time.DateOnly, date); err != nil {
			invalid("date_of_birth", "is not a date such as 1990-02-28")
		}
	}
	if !emailRule.MatchString(details.Email.Reveal()) {
		invalid("email", "is missing, or not an e-mail address")
	}
	if len(wrong) > 0 {
		return Details{NewIndividual: inline(individual), Problems: wrong}
	}
	return Details{NewIndividual: details}
}

// emailRule is that of the CRD for inline addresses.
var emailRule = regexp.MustCompile(`^[^@[:space:]]+@[^@[:space:]]+$`)

var detailKeys = []string{
	"email", "title", "first_name", "middle_name", "last_name", "date_of_birth", "gender", "reference",
}

// misnamedKeys finds keys like firstName: what is in them would not be sent, and an application cannot be changed.
func misnamedKeys(secret *corev1.Secret, found func(key, why string)) {
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		folded := wire.FoldName(strings.ReplaceAll(key, ".", "")) // a Secret's key can have a '.' between words
		for _, meant := range detailKeys {
			if key != meant && folded == wire.FoldName(meant) {
				found(key, "must be called "+meant)
			}
		}
	}
}
