package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// people finds Mandates about the same people: another name of a Mandate is another verification, and e-mails again.
type people struct {
	mandates map[ObjectKey]*holder
	byPerson map[string][]*holder
}

// holder is a Mandate with the people that it is about.
type holder struct {
	key     ObjectKey
	persons []person
	pruned  bool
}

// person is an individual of a Mandate. What identifies it is personal data, and is compared only.
type person struct {
	name       string
	identities []string
}

func newPeople(input Input) *people {
	p := &people{mandates: map[ObjectKey]*holder{}, byPerson: map[string][]*holder{}}
	for _, object := range input.Cluster {
		if m, ok := object.(*v1alpha1.Mandate); ok {
			p.add(m, slices.Contains(input.Pruned, KeyOf(m)))
		}
	}
	for i := range input.Manifests {
		if manifest := input.Manifests[i].Object; manifest.GetKind() == kindMandate {
			m := &v1alpha1.Mandate{}
			_ = runtime.DefaultUnstructuredConverter.FromUnstructured(manifest.Object, m) // what has a wrong type is refused
			p.add(m, false)
		}
	}
	return p
}

func (p *people) add(m *v1alpha1.Mandate, pruned bool) {
	h := &holder{key: KeyOf(m), pruned: pruned}
	if p.mandates[h.key] != nil {
		return
	}
	p.mandates[h.key] = h
	for i := range m.Spec.Individuals {
		person := newPerson(m.Namespace, &m.Spec.Individuals[i])
		h.persons = append(h.persons, person)
		for _, identity := range person.identities {
			p.byPerson[identity] = append(p.byPerson[identity], h)
		}
	}
}

// referenceIdentity begins the identity of a person by its reference.
const referenceIdentity = "reference "

func newPerson(namespace string, individual *v1alpha1.Individual) person {
	p := person{name: individual.Name}
	add := func(kind, value string) {
		if value != "" {
			p.identities = append(p.identities, kind+strings.ToLower(strings.TrimSpace(value)))
		}
	}
	add("email ", individual.Email)
	add(referenceIdentity, individual.Reference)
	if secret := individual.DetailsSecretRef; secret != nil {
		add("secret "+namespace+"/", secret.Name)
	}
	return p
}

// compare warns if a Mandate that is created is about people of another one.
func (p *people) compare(item *planned) {
	mine := p.mandates[item.key]
	if mine == nil || !slices.Contains(item.Actions, Create) {
		return
	}
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
