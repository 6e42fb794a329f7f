// Package individuals tells which individual of an application is which individual of the spec. Everything that is sent
// for an individual, and everything that a status shows of one, follows from Match.
package individuals

import (
	"strconv"
	"strings"

	idv "github.com/mandate-io/idv/internal/client"
)

// Expected is what is known of an individual of the spec. All but Name and ID is personal data.
type Expected struct {
	Name string
	ID   int64 // at the service, as the status has it; 0: not known
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
// matched, and neither are two whose ids are known the other way round. What two individuals have in common identifies
// neither. The position never decides between two.
func Match(expected []Expected, answered []idv.Individual) Matching {
	m := matcher{
		expected: expected, answered: answered,
		found: make([]*idv.Individual, len(expected)), used: make([]bool, len(answered)),
	}
	m.by(exactReference)
	m.by(foldedReference)
	if m.all(func(a *idv.Individual) bool { return a.Email.Reveal() != "" }) {
		m.by(email)
		m.byMaskedEmail()
	}
	m.by(id)
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

// key is what identifies an individual, in the spec and in an answer; "" identifies none.
type key struct {
	expected func(*Expected) string
	answered func(*idv.Individual) string
}

var (
	exactReference = key{
		func(e *Expected) string { return e.Reference },
		func(a *idv.Individual) string { return a.Reference.Reveal() },
	}
	foldedReference = key{
		func(e *Expected) string { return fold(e.Reference) },
		func(a *idv.Individual) string { return fold(a.Reference.Reveal()) },
	}
	email = key{
		func(e *Expected) string { return fold(e.Email) },
		func(a *idv.Individual) string { return fold(a.Email.Reveal()) },
	}
	id = key{
		func(e *Expected) string { return decimal(e.ID) },
		func(a *idv.Individual) string { return decimal(a.ID) },
	}
)

// fold gives what is left of a text where a service changes letter case and surrounding space.
func fold(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

func decimal(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

type matcher struct {
	expected []Expected
	answered []idv.Individual
	found    []*idv.Individual
	used     []bool // of answered
}

// by matches those that a key identifies, alone among all of the spec and alone among all of the answer.
func (m *matcher) by(k key) {
	ofSpec, ofAnswer := map[string]int{}, map[string]int{}
	for i := range m.expected {
		ofSpec[k.expected(&m.expected[i])]++
	}
	for j := range m.answered {
		ofAnswer[k.answered(&m.answered[j])]++
	}
	for i := range m.expected {
		for j := range m.answered {
			shared := k.expected(&m.expected[i])
			if shared != "" && shared == k.answered(&m.answered[j]) && ofSpec[shared] == 1 && ofAnswer[shared] == 1 {
				m.match(i, j)
			}
		}
	}
}

// byMaskedEmail matches those whose address fits what is shown of one, each to no other.
func (m *matcher) byMaskedEmail() {
	ofSpec, ofAnswer := make([]int, len(m.expected)), make([]int, len(m.answered))
	fits := func(i, j int) bool {
		sent, shown := m.expected[i].Email, m.answered[j].Email.Reveal()
		return sent != "" && SameOrMasked(shown, sent)
	}
	for i := range m.expected {
		for j := range m.answered {
			if fits(i, j) {
				ofSpec[i]++
				ofAnswer[j]++
			}
		}
	}
	for i := range m.expected {
		for j := range m.answered {
			if fits(i, j) && ofSpec[i] == 1 && ofAnswer[j] == 1 {
				m.match(i, j)
			}
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

// dropContradictions matches nobody with an id that is known as another one's: that does not change.
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
		if of, ok := known[a.ID]; ok && of != i {
			contradicted[i], contradicted[of] = true, true
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

func (m *matcher) all(is func(*idv.Individual) bool) bool { return m.count(is) == len(m.answered) }

func (m *matcher) count(is func(*idv.Individual) bool) (n int) {
	for j := range m.answered {
		if is(&m.answered[j]) {
			n++
		}
	}
	return n
}
