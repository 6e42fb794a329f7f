package mandate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

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
