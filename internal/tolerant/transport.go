// Package tolerant keeps an object that Go cannot decode from being in the way of all others. The API server may have
// such objects: they were stored before the CRD had a rule, or past it. One of them would break every list and watch of
// its kind.
//
// A transport takes what cannot be decoded out of the responses of the API server, and names it in an annotation.
package tolerant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Config is a configuration whose clients read objects that cannot be decoded completely.
func Config(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return transport{next} })
	return config
}

type transport struct{ next http.RoundTripper }

// RoundTrip sends a request, and repairs the objects in the response.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	if err != nil || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return response, err
	}
	resource := resourceOf(request.URL.Path)
	of, known := kinds[resource]
	switch {
	case !known, response.StatusCode >= http.StatusMultipleChoices:
		return response, nil
	case slices.Contains([]string{"true", "1"}, request.URL.Query().Get("watch")):
		response.Body = &events{kind: of, body: response.Body, decoder: json.NewDecoder(response.Body)}
		return response, nil
	case request.Method == http.MethodGet && path.Base(request.URL.Path) == resource:
		return replaceBody(response, of.repairList)
	default:
		return replaceBody(response, of.repair)
	}
}

// resourceOf a path such as /apis/idv.mandate.io/v1alpha1/namespaces/default/mandates/acme/status.
func resourceOf(path string) string {
	_, path, _ = strings.Cut(path, "/apis/"+v1alpha1.SchemeGroupVersion.String()+"/")
	segments := strings.Split(path, "/")
	if len(segments) > 2 && segments[0] == "namespaces" {
		return segments[2]
	}
	return segments[0]
}

func replaceBody(response *http.Response, repair func([]byte) []byte) (*http.Response, error) {
	data, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was read to its end, or failed
	if err != nil {
		return nil, fmt.Errorf("reading a response of the API server: %w", err)
	}
	data = repair(data)
	response.Body = io.NopCloser(bytes.NewReader(data))
	response.ContentLength = int64(len(data))
	response.Header.Del("Content-Length")
	return response, nil
}

// events is the body of a watch. It repairs one event after another.
type events struct {
	kind    kind
	body    io.ReadCloser
	decoder *json.Decoder
	left    []byte // of the event that is read
}

// Read reads from the next event.
func (e *events) Read(buffer []byte) (int, error) {
	for len(e.left) == 0 {
		var event json.RawMessage
		if err := e.decoder.Decode(&event); err != nil {
			return 0, err //nolint:wrapcheck // io.EOF is the end
		}
		e.left = append(e.kind.repairEvent(event), '\n')
	}
	n := copy(buffer, e.left)
	e.left = e.left[n:]
	return n, nil
}

// Close ends the watch.
func (e *events) Close() error {
	return e.body.Close() //nolint:wrapcheck // it is what the caller knows
}
