package client

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"github.com/go-logr/logr/funcr"
)

// canary is in every secret and every piece of personal data of these tests. Its parts are looked for in other
// notations.
const canary = "canary7301"

func canariesIn(text string) []string {
	var found []string
	for name, form := range map[string]string{
		"plain":       canary,
		"hexadecimal": fmt.Sprintf("%x", canary),
		"HEXADECIMAL": fmt.Sprintf("%X", canary),
		"bytes":       "99 97 110 97 114 121 55 51 48 49",
		"base64":      "Y2FuYXJ5NzMwM", // of the canary at the beginning of a text
	} {
		if strings.Contains(text, form) {
			found = append(found, name)
		}
	}
	return found
}

// withCanary replaces every $ of a template.
func withCanary(template string) string { return strings.ReplaceAll(template, "$", canary) }

// canaries are values as users of this package hold them: what goes in, what comes out, and what comes wrong.
func canaries(t *testing.T) map[string]any {
	t.Helper()
	s := newService(t, inSequence(
		answers(200, withCanary(`{
			"id":1,"name":"$","reference":"R","status":"open",
			"individuals":[{"id":2,"first_name":"$","reference":"$"}]
		}`)),
		answers(400, withCanary(`{
			"type":"$","title":"$","detail":"$","instance":"$",
			"exception":{"reference":["$"],"$":["$"],"individuals":[{"email":["$"]}]}
		}`)),
	), false)
	s.login = answers(200, `{"access_token":"`+canary+`"}`)
	config := s.config()
	config.Credentials = Credentials{Username: "user", Password: Hide(canary), ClientID: "id", ClientSecret: Hide(canary)}
	c := newClient(t, config)
	s.references = answers(200, withCanary(`{"x":"$"}`))
	token, err := c.AccessToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.tokens.logins.Forget("") // waits for the end of the login, because fmt reads the mutex of a Group
	request := NewApplication{
		Name: Hide(canary), Reference: "R",
		Individuals: []NewIndividual{{
			Reference: Hide(canary), Email: Hide(canary), Title: Hide(canary), Gender: Hide(canary),
			FirstName: Hide(canary), MiddleName: new(Hide(canary)), LastName: Hide(canary), DateOfBirth: Hide(canary),
		}},
	}
	// By another client: the race detector would see the connection that this one keeps when the client is printed.
	application, err := newClient(t, config).RetrieveApplication(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CreateApplication(t.Context(), request)
	refused := expectFailure(t, err, Refused, KindDuplicateReference)
	return map[string]any{
		"secret":         Hide(canary),
		"bytes":          Hide([]byte(canary)),
		"pointer":        new(Hide(canary)),
		"in a map":       map[string]Secret{"x": Hide(canary)},
		"unexported":     struct{ s Secret }{Hide(canary)},
		"config":         config,
		"client":         c,
		"client's token": c.tokens,
		"token":          token,
		"request":        request,
		"subscription":   Subscription{URL: Hide(canary), Payload: Hide(raw(withCanary(`{"x":"$"}`)))},
		"review":         CheckReview{Comment: Hide(canary)},
		"application":    application,
		"individual":     application.Individuals[0],
		"webhook":        Webhook{URL: Hide(canary), Raw: Hide(raw(withCanary(`"$"`)))},
		"error":          refused,
		"error's inside": *refused,
		"wrapped error":  errors.Join(refused),
		"problem":        refused.Problem,
		"field error":    refused.Problem.Errors[0],
		"failed login":   refused.before(OpCreateApplication),
	}
}

func TestNothingSensitiveIsPrinted(t *testing.T) {
	for name, value := range canaries(t) {
		prints := map[string]string{}
		for _, verb := range "vsqxXdboOUeEfFgGtcpTw" {
			for _, flags := range []string{"", "+", "#", "-", " ", "0", "+#", "# ", "40", ".3"} {
				format := "%" + flags + string(verb)
				prints[format] = fmt.Sprintf(format, value)
			}
		}
		prints["Print"] = fmt.Sprint(value)
		prints["Errorf"] = fmt.Errorf("%v, %w", value, errors.ErrUnsupported).Error()
		asJSON, _ := json.Marshal(value)
		prints["json"] = string(asJSON)
		asXML, _ := xml.Marshal(value)
		prints["xml"] = string(asXML)
		prints["template"] = rendered(value)
		prints["slog"] = logged(value)
		prints["logr"] = logrLogged(value)
		for how, text := range prints {
			if found := canariesIn(text); found != nil {
				t.Errorf("%s under %s shows the canary (%v): %.300s", name, how, found, text)
			}
		}
	}
}

func rendered(value any) string {
	var b strings.Builder
	_ = template.Must(template.New("").Parse(`{{.}} {{printf "%v" .}} {{html .}} {{js .}}`)).Execute(&b, value)
	return b.String()
}

func logged(value any) string {
	var b bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewJSONHandler(&b, nil), slog.NewTextHandler(&b, nil)} {
		logger := slog.New(handler)
		logger.Info("message", "value", value, slog.Group("group", "value", value))
		logger.With("value", value).Info("message")
	}
	return b.String()
}

func logrLogged(value any) string {
	var b strings.Builder
	write := func(prefix, args string) { b.WriteString(prefix + args) }
	writeJSON := func(object string) { b.WriteString(object) }
	options := funcr.Options{LogTimestamp: true, Verbosity: 10}
	logger, jsonLogger := funcr.New(write, options), funcr.NewJSON(writeJSON, options)
	logger.V(9).WithValues("value", value).Info("message", "value", value, "list", []any{value})
	jsonLogger.V(9).WithValues("value", value).Info("message", "value", value, "list", []any{value})
	if err, ok := value.(error); ok {
		logger.Error(err, "message")
		jsonLogger.Error(err, "message")
	}
	return b.String()
}

func TestSensitiveSaysThatItHidesSomething(t *testing.T) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, Hide("x")); got != redacted {
			t.Errorf("%s: %q", verb, got)
		}
	}
	if got := Hide("x").String(); got != redacted {
		t.Errorf("%v", got)
	}
	if got := Hide("x").Reveal() + (Secret{}).Reveal(); got != "x" {
		t.Errorf("reveals %q", got)
	}
	if asJSON, _ := json.Marshal(Hide([]byte("x"))); string(asJSON) != `"[redacted]"` {
		t.Errorf("%s", asJSON)
	}
}

// TestNothingSensitiveInAPanic panics with each of the values in a process of its own, because the runtime prints them
// by itself.
func TestNothingSensitiveInAPanic(t *testing.T) {
	const variable = "PANIC_WITH"
	if name := os.Getenv(variable); name != "" {
		panic(canaries(t)[name])
	}
	for name := range canaries(t) {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothingSensitiveInAPanic$")
		command.Env = append(os.Environ(), variable+"="+name)
		output, err := command.CombinedOutput()
		if err == nil || !bytes.Contains(output, []byte("panic: ")) {
			t.Fatalf("%s: no panic: %v\n%s", name, err, output)
		}
		if found := canariesIn(string(output)); found != nil {
			t.Errorf("%s shows the canary (%v):\n%s", name, found, output)
		}
	}
}

// manyDigits is a width that fmt would fill with megabytes of spaces, for every field of every value.
var manyDigits = regexp.MustCompile(`(\d{3})\d+`)

// FuzzSensitive: no format at all shows a value, alone or inside what users of this package print.
func FuzzSensitive(f *testing.F) {
	for _, format := range []string{
		"%v", "%+v", "%#v", "%s|%x|% X|%q", "%[1]*d", "%!", "%40.3s", "%T %p", "%w", "%#+08.2f", "%é", "%[2]v", "%",
		"%6666666\\",
	} {
		f.Add(format)
	}
	c, err := New(Config{
		BaseURL:     "https://idv.example.com",
		Credentials: Credentials{Username: "user", Password: Hide(canary), ClientID: "id", ClientSecret: Hide(canary)},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	body := withCanary(`{"title":"$","exception":{"$":["$"],"reference":["$"]},"status":"400"}`)
	refused := answered(OpCreateApplication, http.StatusBadRequest, nil, []byte(body)).judge()
	values := []any{
		Hide(canary), Hide([]byte(canary)), new(Hide(canary)), []Secret{Hide(canary)},
		map[string]Secret{"x": Hide(canary)}, struct{ s Secret }{Hide(canary)},
		NewApplication{Name: Hide(canary), Individuals: []NewIndividual{{Email: Hide(canary)}}},
		c, refused, *refused, refused.Problem,
	}
	f.Fuzz(func(t *testing.T, format string) {
		format = manyDigits.ReplaceAllString(format, "$1")
		if canariesIn(format) != nil {
			return // its own text, not a value's
		}
		for _, value := range values {
			if text := fmt.Sprintf(format, value, value); canariesIn(text) != nil {
				t.Errorf("%T shows the canary: %.300s", value, text)
			}
		}
		if text := fmt.Sprintf(format, values...); canariesIn(text) != nil {
			t.Errorf("the values show the canary: %.300s", text)
		}
	})
}
