package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// people finds Mandates about the same people: another name of a Mandate is another verification, and e-mails again.
type people struct {
	mandates []*holder
	byPerson map[string][]*holder
}

// holder is a Mandate with the people that it is about.
type holder struct {
	key     ObjectKey
	persons []person
	pruned  bool
	planned bool // it is in the manifests
}

// person is an individual of a Mandate. What identifies it is personal data, and is compared only.
type person struct {
	name       string
	identities []string
}

func newPeople(input Input) *people {
	p := &people{byPerson: map[string][]*holder{}}
	for _, object := range input.Cluster {
		if m, ok := object.(*v1alpha1.Mandate); ok {
			key := KeyOf(m)
			p.add(&holder{key: key, persons: personsOf(m), pruned: slices.Contains(input.Pruned, key)})
		}
	}
	for i := range input.Manifests {
		manifest := &input.Manifests[i]
		if key := manifest.KeyOf(); key.Kind == kindMandate {
			p.add(&holder{key: key, persons: personsIn(manifest.Object, key.Namespace), planned: true})
		}
	}
	return p
}

func (p *people) add(h *holder) {
	if i := slices.IndexFunc(p.mandates, func(other *holder) bool { return other.key == h.key }); i >= 0 {
		p.mandates[i].planned = true
		return
	}
	p.mandates = append(p.mandates, h)
	for _, person := range h.persons {
		for _, identity := range person.identities {
			p.byPerson[identity] = append(p.byPerson[identity], h)
		}
	}
}

func personsOf(m *v1alpha1.Mandate) (persons []person) {
	for i := range m.Spec.Individuals {
		individual := &m.Spec.Individuals[i]
		secret := ""
		if individual.DetailsSecretRef != nil {
			secret = individual.DetailsSecretRef.Name
		}
		persons = append(persons, newPerson(m.Namespace, individual.Name, individual.Email, individual.Reference, secret))
	}
	return persons
}

func personsIn(manifest *unstructured.Unstructured, namespace string) (persons []person) {
	individuals, _, _ := unstructured.NestedSlice(manifest.Object, "spec", "individuals") // what is no list is refused
	for _, value := range individuals {
		fields, _ := value.(map[string]any)
		text := func(path ...string) string {
			text, _, _ := unstructured.NestedString(fields, path...)
			return text
		}
		persons = append(persons, newPerson(namespace, text("name"), text("email"), text("reference"),
			text("detailsSecretRef", "name")))
	}
	return persons
}

// What identifies a person.
const (
	emailIdentity     = "email "
	referenceIdentity = "reference "
	secretIdentity    = "secret "
)

func newPerson(namespace, name, email, reference, secret string) person {
	p := person{name: name}
	for _, identity := range [][2]string{
		{emailIdentity, email}, {referenceIdentity, reference}, {secretIdentity + namespace + "/", secret},
	} {
		if kind, value := identity[0], identity[1]; value != "" {
			p.identities = append(p.identities, kind+strings.ToLower(strings.TrimSpace(value)))
		}
	}
	return p
}

// compare warns if a Mandate that is created is about people of another one.
func (p *people) compare(item *planned) {
	i := slices.IndexFunc(p.mandates, func(h *holder) bool { return h.key == item.key })
	if i < 0 || !slices.Contains(item.Actions, Create) {
		return
	}
	mine := p.mandates[i]
	shared := map[*holder][]string{}
	var others []*holder
	for _, person := range mine.persons {
		for _, identity := range person.identities {
			for _, other := range p.byPerson[identity] {
				if other == mine {
					continue
				}
				if strings.HasPrefix(identity, referenceIdentity) {
					item.assume(assumedIndividual)
				}
				if shared[other] == nil {
					others = append(others, other)
				}
				shared[other] = withNew(shared[other], person.name)
			}
		}
	}
	for _, other := range others {
		item.warn(warningOf(mine, other, shared[other]))
	}
}

// warningOf says what two Mandates have in common.
func warningOf(mine, other *holder, names []string) string {
	name := other.key.Namespace + "/" + other.key.Name
	if len(names) < len(mine.persons) || len(names) < len(other.persons) {
		return fmt.Sprintf("%s: also in the Mandate %s. This is another verification, and sends other e-mails.",
			strings.Join(names, ", "), name)
	}
	what := "The same people as in the Mandate " + name
	if other.pruned {
		what += ", which is deleted: a rename"
	}
	return what + ". Another name is another verification, and e-mails them again."
}
