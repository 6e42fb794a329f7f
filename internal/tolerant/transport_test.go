package tolerant

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

const (
	odd  = `{"kind":"Mandate","metadata":{"name":"odd"},"spec":{"suspend":"canary","adopt":{"applicationID":7}}}`
	acme = `{"kind":"Mandate","metadata":{"name":"acme"},"spec":{"suspend":true}}`
	fine = `{"kind":"Mandate","metadata":{"annotations":{"` + Annotation + `":"spec.suspend"},"name":"odd"},` +
		`"spec":{"adopt":{"applicationID":7}}}`
)

func TestTransport(t *testing.T) {
	answers := map[string]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/text") {
			w.Header().Set("Content-Type", "text/plain")
		}
		_, _ = w.Write([]byte(answers[r.URL.String()]))
	}))
	defer server.Close()
	client, err := rest.HTTPClientFor(Config(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	const group = "/apis/idv.mandate.io/v1alpha1"
	list := `{"items":[%s,` + acme + `],"kind":"MandateList"}`
	event := `{"type":"ADDED","object":%s}` + "\n"
	failed := `{"type":"ERROR","object":{"kind":"Status","status":"Failure"}}` + "\n"
	watched := fmt.Sprintf(event, acme) + fmt.Sprintf(event, odd) + failed
	for path, test := range map[string]struct{ sent, want string }{
		group + "/namespaces/a/mandates/odd":           {odd, fine},
		group + "/namespaces/a/mandates/odd/status":    {odd, fine},
		"/prefix" + group + "/namespaces/a/mandates/x": {odd, fine},
		group + "/namespaces/a/mandates/acme":          {acme, acme},
		group + "/mandates":                            {fmt.Sprintf(list, odd), fmt.Sprintf(list, fine)},
		group + "/namespaces/a/mandates":               {fmt.Sprintf(list, acme), fmt.Sprintf(list, acme)},
		group + "/mandates?watch=true":                 {watched, strings.Replace(watched, odd, fine, 1)},
		group + "/namespaces/a/mandates?watch=1":       {watched + `{"type":`, ""},
		group + "/namespaces/a/mandates/text":          {odd, odd},
		"/apis/example.com/v1/mandates":                {odd, odd},
		"/api/v1/namespaces/mandates":                  {odd, odd},
	} {
		answers[path] = test.sent
		response, err := client.Get(server.URL + path) //nolint:noctx // a test's own server
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if cut := test.want == ""; cut != (err != nil) || !cut && string(got) != test.want {
			t.Errorf("%s: got %s, %v\nwant %s", path, got, err, test.want)
		}
	}
}
