package notification

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamesIn(t *testing.T) {
	for name, c := range map[string]struct {
		contentType, body string
		want              []string
	}{
		"JSON": {
			mediaJSON, `{"event":"canary","application":{"id":4711,"names":["canary",true]},"raw":"{\"canary\":1}"}`,
			[]string{".event", "application.id", "application.names", "raw.canary", ".raw"},
		},
		"a form":             {mediaForm, "email=canary%40example.com&id=4711", []string{".email", ".id"}},
		"what may be a form": {"", "canary=canary", nil},
		"text":               {"text/plain", "the canary: 4711", nil},
		"invalid JSON":       {mediaJSON, `{"canary": canary: 1}`, nil},
		"nothing":            {"", "", nil},
		"a hostile name":     {mediaJSON, `{"a\u001b[31m` + strings.Repeat("x", 100) + `":1}`, []string{"(no identifier)"}},
		"names that may be personal data": {
			mediaJSON, `{"jane@example.com":{"+44 7700 900001":"canary"},"Jane Doe":"canary","$type":"canary"}`,
			[]string{"(no identifier)", ".$type"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, namesIn(c.contentType, []byte(c.body))); diff != "" {
				t.Errorf("the names (-want +got):\n%s", diff)
			}
		})
	}
}

// Values are no names.
func FuzzNamesIn(f *testing.F) {
	for _, shape := range shapes {
		f.Add(shape.contentType, shape.body)
	}
	f.Fuzz(func(t *testing.T, contentType, body string) {
		const canary = "zCANARYz"
		if strings.ContainsAny(body, `"\\=&`) {
			return
		}
		for _, part := range namesIn(contentType, []byte(`{"name":"`+body+canary+`","x":["`+body+canary+`"]}`)) {
			if strings.Contains(part, canary) {
				t.Errorf("a value is among the names: %q", part)
			}
		}
	})
}
