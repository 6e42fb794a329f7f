// Package individuals tells which individual of an application is which individual of the spec. Everything that is sent
// for an individual, and everything that a status shows of one, follows from Match.
package individuals

import (
	"strings"

	idv "github.com/mandate-io/idv/internal/client"
)

// Expected is what is known of an individual of the spec. All but Name and ID is personal data.
type Expected struct {
	Name string
	ID   int64 // at the service, as the status or the record has it; 0: not known
	// Recorded: the record has the ID, so another one is not this individual's, whatever else agrees.
	Recorded bool
	// Reference and Email are what was sent; "" if that is not known.
	Reference, Email string
}

// Matching says which individual of an answer each individual of the spec is.
type Matching struct {
	// Individuals are those of the answer in the sequence of the spec, nil for one that cannot be told.
	Individuals []*idv.Individual
	// Complete: each individual of the spec is one of the answer, and there are no others.
	Complete bool
	// Fewer: the answer has fewer individuals than the spec. A new application may not show them all yet.
	Fewer bool
}

// Match finds the individuals of the spec in an answer, by what identifies them: the reference that was sent, then the
// e-mail address, which may be masked, then the id that is known. An individual that shows another reference is never
// matched, and neither are two whose ids are known the other way round, or one whose recorded id is another. What two
// individuals have in common identifies neither. The position never decides between two.
func Match(expected []Expected, answered []idv.Individual) Matching {
	m := matcher{
		expected: expected, answered: answered,
		found: make([]*idv.Individual, len(expected)), used: make([]bool, len(answered)),
	}
	m.by(sameReference)
	m.by(foldedReference)
	if m.count(func(a *idv.Individual) bool { return a.Email.Reveal() != "" }) == len(answered) {
		m.by(sameEmail)
		m.by(maskedEmail)
	}
	m.by(sameID)
	m.theOnlyOne()
	m.dropContradictions()
	complete := len(expected) == len(answered)
	for i, a := range m.found {
		if a != nil && a.ID != 0 && m.count(func(b *idv.Individual) bool { return b.ID == a.ID }) > 1 {
			m.found[i] = nil
		}
		complete = complete && m.found[i] != nil
	}
	return Matching{m.found, complete, len(answered) < len(expected)}
}

// sameReference, and the next ones, report whether an individual of an answer is identified as one of the spec.
func sameReference(e *Expected, a *idv.Individual) bool {
	return e.Reference != "" && e.Reference == a.Reference.Reveal()
}

func foldedReference(e *Expected, a *idv.Individual) bool {
	return fold(e.Reference) != "" && fold(e.Reference) == fold(a.Reference.Reveal())
}

func sameEmail(e *Expected, a *idv.Individual) bool {
	return fold(e.Email) != "" && fold(e.Email) == fold(a.Email.Reveal())
}

func maskedEmail(e *Expected, a *idv.Individual) bool {
	return e.Email != "" && SameOrMasked(a.Email.Reveal(), e.Email)
}

func sameID(e *Expected, a *idv.Individual) bool { return e.ID != 0 && e.ID == a.ID }

// fold gives what is left of a text where a service changes letter case and surrounding space.
func fold(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

type matcher struct {
	expected []Expected
	answered []idv.Individual
	found    []*idv.Individual
	used     []bool // of answered
}

// by matches those that identify each other, and nobody else: neither of the spec nor of the answer.
func (m *matcher) by(identifies func(*Expected, *idv.Individual) bool) {
	ofSpec, ofAnswer := make([]int, len(m.expected)), make([]int, len(m.answered))
	var pairs [][2]int
	for i := range m.expected {
		for j := range m.answered {
			if identifies(&m.expected[i], &m.answered[j]) {
				ofSpec[i]++
				ofAnswer[j]++
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	for _, pair := range pairs {
		if i, j := pair[0], pair[1]; ofSpec[i] == 1 && ofAnswer[j] == 1 {
			m.match(i, j)
		}
	}
}

// theOnlyOne matches the only individual of the spec to the only one of the answer, if neither its id nor what is shown
// says otherwise.
func (m *matcher) theOnlyOne() {
	if len(m.expected) != 1 || len(m.answered) != 1 || m.expected[0].ID != 0 {
		return
	}
	sent, shown := m.expected[0].Email, m.answered[0].Email.Reveal()
	if sent == "" || shown == "" || SameOrMasked(shown, sent) {
		m.match(0, 0)
	}
}

// dropContradictions matches nobody with an id that is known as another one's, or that is not the recorded one. These
// do not change.
func (m *matcher) dropContradictions() {
	known := map[int64]int{}
	for i := range m.expected {
		if id := m.expected[i].ID; id != 0 {
			known[id] = i
		}
	}
	contradicted := map[int]bool{}
	for i, a := range m.found {
		if a == nil {
			continue
		}
		if other, ok := known[a.ID]; ok && other != i {
			contradicted[i], contradicted[other] = true, true
		}
		if e := &m.expected[i]; e.Recorded && a.ID != 0 && a.ID != e.ID {
			contradicted[i] = true
		}
	}
	for i := range contradicted {
		m.found[i] = nil
	}
}

// match matches two that are not matched yet, unless the references contradict.
func (m *matcher) match(i, j int) {
	sent, shown := fold(m.expected[i].Reference), fold(m.answered[j].Reference.Reveal())
	if m.found[i] == nil && !m.used[j] && (sent == "" || shown == "" || sent == shown) {
		m.found[i], m.used[j] = &m.answered[j], true
	}
}

func (m *matcher) count(is func(*idv.Individual) bool) (n int) {
	for j := range m.answered {
		if is(&m.answered[j]) {
			n++
		}
	}
	return n
}
