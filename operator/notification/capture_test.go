package notification

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShapes(t *testing.T) {
	for name, c := range map[string]struct {
		contentType, body string
		want              []string
	}{
		"JSON": {
			mediaJSON, `{"event":"canary","application":{"id":4711,"names":["canary",true]},"raw":"{\"canary\":1}"}`,
			[]string{
				`JSON as "application/json", 91 bytes`, ".event: 6", "application.id: 4",
				"application.names: 6", "raw.canary: 1", ".raw: 12",
			},
		},
		"a form": {
			mediaForm, "email=canary%40example.com&id=4711",
			[]string{`form as "application/x-www-form-urlencoded", 34 bytes`, ".email: 18", ".id: 4"},
		},
		"what may be a form": {"", "canary=canary", []string{`form as "", 13 bytes`}},
		"text":               {"text/plain", "the canary: 4711", []string{`text as "text/plain", 16 bytes`}},
		"invalid JSON":       {mediaJSON, `{"canary": canary: 1}`, []string{`JSON as "application/json", 21 bytes`}},
		"nothing":            {"", "", []string{`text as "", 0 bytes`}},
		"a hostile name": {
			mediaJSON, `{"a\u001b[31m` + strings.Repeat("x", 100) + "\x7f" + `":1}`,
			[]string{`JSON as "application/json", 118 bytes`, ".(a name of 107 characters): 1"},
		},
		"names that may be personal data": {
			mediaJSON, `{"jane@example.com":{"+44 7700 900001":"canary"},"Jane Doe":"canary","$type":"canary"}`,
			[]string{
				`JSON as "application/json", 86 bytes`, "(a name of 16 characters).(a name of 15 characters): 6",
				".(a name of 8 characters): 6", ".$type: 6",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, shapeOf(c.contentType, []byte(c.body))); diff != "" {
				t.Errorf("the shape (-want +got):\n%s", diff)
			}
		})
	}
	if shape := shapeOf(mediaJSON, []byte("["+strings.Repeat("1,", 1000)+"1]")); len(shape) != maxShape+1 {
		t.Errorf("the shape has %d values", len(shape))
	}
}

// A shape holds nothing that is not in a name.
func FuzzShapes(f *testing.F) {
	for _, shape := range shapes {
		f.Add(shape.contentType, shape.body)
	}
	f.Fuzz(func(t *testing.T, contentType, body string) {
		const canary = "zCANARYz"
		if strings.ContainsAny(body, `"\\=&`) || strings.Contains(contentType, canary) {
			return
		}
		for _, part := range shapeOf(contentType, []byte(`{"name":"`+body+canary+`","x":["`+body+canary+`"]}`)) {
			if strings.Contains(part, canary) {
				t.Errorf("the shape has a value: %q", part)
			}
		}
	})
}
