package action

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
)

const pdf = "%PDF-1.7\n%\xe2\xe3\xcf\xd3 a report"

func TestReadReport(t *testing.T) {
	standard, urlSafe := base64.StdEncoding.EncodeToString([]byte(pdf)), base64.RawURLEncoding.EncodeToString([]byte(pdf))
	const js = "application/json"
	image := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n a face"))
	cases := map[string]struct {
		why               string
		contentType, body string
		wantType, want    string // want "" is the body
		isURL             bool
	}{
		"a PDF":            {contentType: "application/pdf", body: pdf, wantType: "application/pdf"},
		"bytes of no type": {body: pdf, wantType: ""},
		"base64": {
			contentType: js,
			body:        fmt.Sprintf(`{"file_name": "report", "content_type": "application/pdf", "content": %q}`, standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"base64, wrapped": {
			contentType: js,
			body:        fmt.Sprintf(`{"data": {"report": {"pdf": %q}}}`, standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"base64 for URLs": {
			contentType: js,
			body:        fmt.Sprintf(`{"report": %q}`, urlSafe),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"base64 in lines": {
			contentType: js,
			body:        fmt.Sprintf(`{"report": %q}`, standard[:20]+"\r\n"+standard[20:]),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"a data URL": {
			contentType: js,
			body:        fmt.Sprintf(`{"report": "data:application/pdf;base64,%s"}`, standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"only a text": {
			contentType: js,
			body:        fmt.Sprintf("%q", standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"base64 and a URL": {
			contentType: js,
			body:        fmt.Sprintf(`{"url": "https://reports.example/1", "content": %q}`, standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"JSON of another type": {
			contentType: "application/vnd.report+json",
			body:        fmt.Sprintf(`{"content": %q}`, standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"JSON of no type": {body: fmt.Sprintf(`{"content": %q}`, standard), wantType: "application/pdf", want: pdf},
		"a URL": {
			contentType: js,
			body:        `{"url": "https://reports.example/1", "expires_in": 60}`,
			isURL:       true,
		},
		"a URL, wrapped": {
			contentType: js,
			body:        `{"data": {"download": "http://reports.example/1"}}`,
			isURL:       true,
		},
		"only a URL": {contentType: js, body: `"https://reports.example/1"`, isURL: true},
		"a report in JSON": {
			contentType: js,
			body:        `{"result": "passed", "checks": 3}`,
			wantType:    js,
			why:         "passed is base64, and no file",
		},
		"one that mentions a URL": {
			contentType: js,
			body:        `{"checks": [{"title": "liveness"}], "help": "https://help.example"}`,
			wantType:    js,
		},
		"one with two URLs": {
			contentType: js,
			body:        `{"front": "https://a.example", "back": "https://b.example"}`,
			wantType:    js,
		},
		"one with two files": {
			contentType: js,
			body:        fmt.Sprintf(`{"front": %q, "back": %q}`, standard, standard),
			wantType:    js,
			why:         "to choose one would lose the other",
		},
		"one with a picture": {
			contentType: js,
			body:        fmt.Sprintf(`{"individual": {"id": 7}, "checks": [{"id": 1}], "selfie": %q}`, image),
			wantType:    js,
			why:         "the picture is not the report",
		},
		"one with a picture, without objects": {
			contentType: js,
			body:        fmt.Sprintf(`{"result": "passed", "selfie": %q}`, image),
			wantType:    js,
		},
		"one with a document": {
			contentType: js,
			body:        fmt.Sprintf(`{"individual": {"id": 7}, "address": {"proof": %q}}`, standard),
			wantType:    js,
		},
		"one with a list and a document": {
			contentType: js,
			body:        fmt.Sprintf(`{"checks": ["liveness"], "proof": %q}`, standard),
			wantType:    js,
		},
		"one with a URL, without lists": {
			contentType: js,
			body:        `{"individual": {"id": 7}, "help": "https://help.example"}`,
			wantType:    js,
		},
		"only a picture": {
			contentType: js,
			body:        fmt.Sprintf(`{"data": {"report": %q}}`, image),
			wantType:    "image/png",
			want:        "\x89PNG\r\n\x1a\n a face",
		},
		"base64 beside what is empty": {
			contentType: js,
			body:        fmt.Sprintf(`{"errors": [], "meta": {}, "report": %q}`, standard),
			wantType:    "application/pdf",
			want:        pdf,
		},
		"a path":                    {contentType: js, body: `{"path": "/reports/1"}`, wantType: js},
		"JSON that is none":         {contentType: js, body: `{"url": `, wantType: js},
		"a PDF that is called text": {contentType: "text/plain", body: pdf, wantType: "text/plain"},
		"JSON that is called a PDF": {
			contentType: "application/pdf",
			body:        `{"url": "https://reports.example/1"}`,
			wantType:    "application/pdf",
			why:         "the service says what it is",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, isURL := readReport(c.contentType, []byte(c.body))
			want := c.want
			if want == "" && !c.isURL {
				want = c.body
			}
			if isURL != c.isURL || got.contentType != c.wantType || string(got.content) != want {
				t.Errorf(
					"%q of type %q, URL %t; want %q of type %q, URL %t\n%s",
					got.content,
					got.contentType,
					isURL,
					want,
					c.wantType,
					c.isURL,
					c.why,
				)
			}
		})
	}
}

func FuzzReadReport(f *testing.F) {
	f.Add("application/json", []byte(`{"content": "JVBERi0xLjc="}`))
	f.Add("application/json", []byte(`{"url": "https://reports.example/1"}`))
	f.Add("", []byte(pdf))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		report, isURL := readReport(contentType, body)
		switch {
		case isURL && len(report.content) > 0:
			t.Error("a URL, and a report")
		case !isURL && !bytes.Equal(report.content, body) && !json.Valid(body):
			t.Error("what is no JSON was changed")
		case len(report.content) > len(body):
			t.Error("the report is larger than the answer")
		}
	})
}
