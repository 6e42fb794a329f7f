package provider

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mandate-io/idv/internal/client"
)

// sameRequest reports whether both subscriptions send the same request: the same fields with equal values. The order of
// keys, the order and the repetition of events, and what RFC 3986, 6.2 lets a service normalize in the URL make no
// difference.
func sameRequest(one, other client.Subscription) bool {
	urls := []string{one.FieldName("url"), other.FieldName("url")}
	events := []string{one.FieldName("events"), other.FieldName("events")}
	first, err := canonicalRequest(one, urls, events)
	second, otherErr := canonicalRequest(other, urls, events)
	return err == nil && otherErr == nil && bytes.Equal(first, second)
}

// canonicalRequest encodes the request. urls and events are the names of the fields that hold a URL or events.
func canonicalRequest(s client.Subscription, urls, events []string) ([]byte, error) {
	body, err := s.Body()
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, err
	}
	for _, name := range urls {
		if text, ok := fields[name].(string); ok {
			fields[name] = client.CanonicalURL(text)
		}
	}
	for _, name := range events {
		if texts, ok := asTexts(fields[name]); ok {
			slices.Sort(texts)
			fields[name] = slices.Compact(texts)
		}
	}
	return json.Marshal(fields)
}

func asTexts(value any) ([]string, bool) {
	items, ok := value.([]any)
	texts := make([]string, 0, len(items))
	for _, item := range items {
		text, isText := item.(string)
		texts, ok = append(texts, text), ok && isText
	}
	return texts, ok
}
