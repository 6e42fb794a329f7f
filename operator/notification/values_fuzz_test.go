package notification

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCandidates: whatever a delivery is, its candidates are few, short and different. Of valid JSON they are values
// that a decoder of tokens finds, too, and all of them where these are few.
func FuzzCandidates(f *testing.F) {
	for _, shape := range shapes {
		f.Add(shape.contentType, []byte(shape.body))
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		before := bytes.Clone(body)
		got := Candidates(contentType, body)
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		var texts []string
		for _, candidate := range got {
			texts = append(texts, candidate.Text)
			if utf8.RuneCountInString(candidate.Text) > maxText || !utf8.ValidString(candidate.Text) || candidate.Text == "" {
				t.Errorf("%q is no reference", candidate.Text)
			}
			if candidate.Number != id(candidate.Text) || candidate.Number < 0 {
				t.Errorf("%q is %d", candidate.Text, candidate.Number)
			}
		}
		slices.Sort(texts)
		if len(texts) > maxCandidates || len(slices.Compact(slices.Clone(texts))) != len(texts) {
			t.Errorf("the candidates are %q", texts)
		}
		if want, strict := scalars(body); strict && !slices.Equal(want, texts) {
			t.Errorf("the candidates are %q, want %q", texts, want)
		}
	})
}

// scalars are the candidates of JSON by the rules alone: as long as they are few, and no string has JSON or a link.
func scalars(body []byte) (texts []string, strict bool) {
	if trimmed := bytes.TrimSpace(body); len(trimmed) == 0 || !json.Valid(body) || !utf8.Valid(body) ||
		bytes.IndexByte([]byte(`{["`), trimmed[0]) < 0 {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var containers []json.Delim
	name, deepest := false, 0 // the next string is one
	for {
		token, err := decoder.Token()
		if err != nil {
			slices.Sort(texts)
			texts = slices.Compact(texts)
			return texts, len(texts) <= maxCandidates && deepest <= maxDepth
		}
		inObject := len(containers) > 0 && containers[len(containers)-1] == '{'
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				containers = append(containers, v)
				deepest = max(deepest, len(containers))
			} else {
				containers = containers[:len(containers)-1]
			}
			inObject = len(containers) > 0 && containers[len(containers)-1] == '{'
			name = inObject
			continue
		case json.Number:
			whole, fraction, _ := strings.Cut(v.String(), ".")
			if strings.Trim(fraction, "0") == "" && id(whole) != 0 {
				texts = append(texts, whole)
			}
		case string:
			if inObject && name {
				name = false
				continue
			}
			if strings.ContainsAny(v, `{[":`) { // it may be JSON, or a link
				return nil, false
			}
			if n := utf8.RuneCountInString(v); n > 0 && n <= maxText {
				texts = append(texts, v)
			}
		}
		name = inObject
	}
}
