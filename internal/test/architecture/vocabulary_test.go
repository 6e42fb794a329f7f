package architecture

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// privateWords are names that only this project gave to things, each with the term of the field. They occur nowhere:
// not as a word of an identifier, nor in a comment, a text, a page or the name of a file.
var privateWords = map[string]string{
	"ahead":         "delay",
	"ask unless":    "webhookCache",
	"behind plan":   "configOnly",
	"called late":   "fallbackRequeue",
	"calm":          "fault-free",
	"crew":          "fleet",
	"elsewhere":     "recordedAtOtherURL; in a text: in another place",
	"fingerprint":   "digest",
	"fit for state": "redactForState",
	"fly":           "login",
	"fresh":         "LiveReader; in a text: new",
	"futile":        "backoffUntil",
	"hand":          "manual",
	"house":         "architecture; in a text: project",
	"imprint":       "digest",
	"look again":    "requeueAfter",
	"mend":          "repair",
	"of both":       "worstOutcome",
	"patience":      "failureThreshold, timeout",
	"proven":        "referenceMatched; in a text: confirmed",
	"reason behind": "reasonStaleCache",
	"rights":        "access, permissions",
	"sighting":      "lookupResult",
	"speak":         "setDialect; in a text: use",
	"spelling":      "encoding",
	"spent":         "rejected; in a text: used",
	"squad":         "batch",
	"stands":        "decidedStates; in a text: is, stays",
	"strike":        "faultInjector; in a text: apply",
	"suspect":       "RequestProbe",
	"trip":          "failureThreshold; in a text: open",
	"trouble":       "failureReason; in a text: problem",
	"turn":          "reservation, lock; in a text: one after another",
	"untouched":     "neverReconciled; in a text: unchanged",
	"visit":         "slot",
	"who is who":    "which individual is which",
	"whoever":       "say who",
}

// otherSenses are those in which a private word is a term of the field.
var otherSenses = []string{
	"round trip", "by hand",
	"your calm", // ENHANCE_YOUR_CALM is an error code of HTTP/2
}

// privateNames are plain English in a text. As the whole name of something that this project declares, or of a file,
// they were private.
var privateNames = map[string]privateName{
	"advance":  {term: "step", in: []string{"operator"}},
	"bare":     {term: "redact"},
	"called":   {term: "wakeups"},
	"careless": {term: "unrequested"},
	"carried":  {term: "assigned"},
	"compact":  {term: "intern", in: []string{"operator"}},
	"enter":    {term: "tryAcquire"},
	"held":     {term: "refusedDigest"},
	"history":  {term: "privateData", in: []string{"provider", "operator"}},
	"holdsup":  {term: "blocksDeletion"},
	"inside":   {term: "inFlight"},
	"judge":    {term: "classify", in: []string{"operator"}},
	"leave":    {term: "release"},
	"life":     {term: "scenario"},
	"line":     {term: "concurrencyLimiter", in: []string{"operator/connection", "operator/engine"}},
	"lines":    {term: "limiters", in: []string{"operator/connection", "operator/engine"}},
	"memory":   {term: "localState"},
	"nobody":   {term: "dummyDigests, none", in: []string{"operator"}},
	"note":     {term: "record"},
	"paper":    {term: "printer"},
	"pass":     {term: "reconciliation"},
	"receipts": {term: "receivedTimes"},
	"room":     {term: "capacity, layer"},
	"row":      {term: "operation, conditionSpec; in a test: test"},
	"showing":  {term: "webhookCache"},
	"taken":    {term: "accepted"},
	"tell":     {term: "observe"},
	"thin":     {term: "downsample"},
	"verdict": {
		term: "result, answer, conditionSpec",
		in:   []string{"api", "internal", "plugin", "provider", "operator/action", "operator/ledger"},
	},
	"verdicts": {term: "conditionSpecs"},
	"whomay":   {term: "missingRole"},
	"wire":     {term: "httpClient", in: []string{"plugin"}},
}

// A privateName is private in some directories, or in all.
type privateName struct {
	term string
	in   []string
}

func TestVocabulary(t *testing.T) {
	report := func(place, text string) {
		for word, term := range privateWordsIn(text) {
			t.Errorf("%s: %q is a private word: %s", place, word, term)
		}
	}
	for name, content := range inOrder(textFiles(t)) {
		if slices.Contains([]string{"vocabulary_test.go", "go.mod", "go.sum", "LICENSE"}, path.Base(name)) {
			continue
		}
		if name == contributing {
			content = bytes.Replace(content, []byte(tablesOfWords()), nil, 1)
		}
		report(name, name)
		for number, line := range bytes.Split(content, []byte("\n")) {
			report(fmt.Sprintf("%s:%d", name, number+1), string(line))
		}
		if strings.HasSuffix(name, ".go") {
			checkNames(t, name, content)
		}
	}
}

const contributing = "CONTRIBUTING.md"

var update = flag.Bool("update", false, "write the tables of words in "+contributing)

// TestTablesOfWords holds the tables in CONTRIBUTING.md equal to the lists.
func TestTablesOfWords(t *testing.T) {
	page := string(textFiles(t)[contributing])
	const begin, end = "<!-- words: begin -->\n", "<!-- words: end -->"
	before, rest, found := strings.Cut(page, begin)
	tables, after, ended := strings.Cut(rest, end)
	switch {
	case !found || !ended:
		t.Fatalf("%s has no place for the tables of words", contributing)
	case tables == tablesOfWords():
	case *update:
		wanted := before + begin + tablesOfWords() + end + after
		if err := os.WriteFile(filepath.Join(root, contributing), []byte(wanted), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not have the words of this test; run make update", contributing)
	}
}

func tablesOfWords() string {
	var tables strings.Builder
	tables.WriteString("\n| nowhere | instead |\n|---|---|\n")
	for _, word := range slices.Sorted(maps.Keys(privateWords)) {
		fmt.Fprintf(&tables, "| %s | %s |\n", word, privateWords[word])
	}
	tables.WriteString("\n| not as a name | instead | where |\n|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(privateNames)) {
		private := privateNames[name]
		fmt.Fprintf(&tables, "| %s | %s | %s |\n", name, private.term, cmp.Or(strings.Join(private.in, ", "), "everywhere"))
	}
	return tables.String() + "\n"
}

// longestPhrase is how many words a private word has at most.
const longestPhrase = 3

// privateWordsIn finds the private words of a text, with the term of the field.
func privateWordsIn(text string) map[string]string {
	found := map[string]string{}
	words := wordsOf(text)
	for i := 0; i < len(words); i++ {
		if phrase := strings.Join(words[i:min(i+2, len(words))], " "); slices.Contains(otherSenses, phrase) {
			i++
			continue
		}
		for end := i + 1; end <= min(i+longestPhrase, len(words)); end++ {
			phrase := strings.Join(words[i:end], " ")
			term, private := privateWords[phrase]
			if !private {
				term, private = privateWords[strings.TrimSuffix(phrase, "s")]
			}
			if private {
				found[phrase] = term
			}
		}
	}
	return found
}

// wordsOf separates the words of a text and of its identifiers, in lower case.
func wordsOf(text string) []string {
	var separated strings.Builder
	letters := []rune(text)
	for i, letter := range letters {
		startsWord := i > 0 && unicode.IsUpper(letter) &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if startsWord {
			separated.WriteByte(' ')
		}
		separated.WriteRune(unicode.ToLower(letter))
	}
	return strings.FieldsFunc(separated.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// checkNames looks at all that a file declares, and at its own name.
func checkNames(t *testing.T, file string, content []byte) {
	t.Helper()
	check := func(place, name string) {
		private, listed := privateNames[strings.ToLower(name)]
		contains := func(dir string) bool { return within(file, dir) }
		if listed && (len(private.in) == 0 || slices.ContainsFunc(private.in, contains)) {
			t.Errorf("%s: %q is a private name: %s", place, name, private.term)
		}
	}
	base, _, _ := strings.Cut(path.Base(file), ".")
	check(file, strings.TrimSuffix(base, "_test"))
	positions := token.NewFileSet()
	parsed, err := parser.ParseFile(positions, file, content, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range declared(parsed) {
		check(positions.Position(name.Pos()).String(), name.Name)
	}
}

// declared returns the identifiers that a file declares, local ones too.
func declared(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	assigned := func(expressions ...ast.Expr) {
		for _, expression := range expressions {
			if name, ok := expression.(*ast.Ident); ok {
				names = append(names, name)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				assigned(n.Lhs...)
			}
		case *ast.RangeStmt:
			assigned(n.Key, n.Value)
		}
		return true
	})
	return names
}

func TestPrivateWordsIn(t *testing.T) {
	for text, want := range map[string]string{
		"tripAfter":               "trip",
		"HTTPTrip":                "trip",
		"CalledLate":              "called late",
		"a_visit.go":              "visit",
		"two visits":              "visits",
		"who-is-who":              "who is who",
		"RoundTripper, by hand":   "",
		"http.RoundTrip":          "",
		"ErrCodeEnhanceYourCalm":  "",
		"keep calm":               "calm",
		"handler, house-1, retry": "house",
		"return, refresh, wheels": "",
	} {
		got := strings.Join(slices.Sorted(maps.Keys(privateWordsIn(text))), ", ")
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
