package engine

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/lifecycle"
	"github.com/mandate-io/idv/internal/printable"
)

// minPersonal is the length from which a value of a person hides texts. Shorter ones are in most texts by chance.
const minPersonal = 3

// Personal is what is known of people where texts of a service are shown. The service writes these texts as it likes,
// and may write who somebody is. The zero value knows nobody.
type Personal struct {
	states lifecycle.Names
	public []string // as words, like the values
	values []string
}

// PersonalOf is what a spec says of people. The cache has no details of them. What states explains is in the spec of a
// service, and about nobody. The names of the Mandate and of its individuals are shown anyhow.
func PersonalOf(m *v1alpha1.Mandate, states lifecycle.Names) *Personal {
	p := &Personal{states: states, public: []string{wordsOf(m.Name)}}
	for i := range m.Spec.Individuals {
		p.public = append(p.public, wordsOf(m.Spec.Individuals[i].Name))
	}
	p.Add(m.Spec.Name)
	for i := range m.Spec.Individuals {
		one := &m.Spec.Individuals[i]
		p.Add(one.Email, one.FirstName, ptr.Deref(one.MiddleName, ""), one.LastName, one.DateOfBirth, one.Reference)
	}
	return p
}

// Add adds values of a person, such as a name or a date.
func (p *Personal) Add(values ...string) {
	for _, value := range values {
		words := wordsOf(value)
		long := utf8.RuneCountInString(strings.TrimSpace(words)) >= minPersonal
		if long && !slices.Contains(p.public, words) {
			p.values = append(p.values, words)
		}
	}
}

// Shown is a text as it can be shown: all of it, or nothing if it has an @, as addresses have, or one of the values as
// words of their own. Names of states that are known are about nobody, whatever people are called.
func (p *Personal) Shown(text string) string {
	if p.states.IsKnown(text) {
		return text
	}
	words := wordsOf(text)
	named := slices.ContainsFunc(p.values, func(value string) bool { return strings.Contains(words, value) })
	if named || printable.MayHaveAddress(text) {
		return ""
	}
	return text
}

// wordsOf are the words of a text in lower case, each between spaces. In scripts without spaces, each character is one.
func wordsOf(text string) string {
	var words strings.Builder
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			words.WriteString(" " + string(r) + " ")
		case unicode.In(r, unicode.L, unicode.M, unicode.N):
			words.WriteRune(unicode.ToLower(r))
		case unicode.Is(unicode.Cf, r): // invisible
		default:
			words.WriteByte(' ')
		}
	}
	return " " + strings.Join(strings.Fields(words.String()), " ") + " "
}
