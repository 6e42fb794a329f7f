package notification

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"unicode/utf8"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/operator/connection"
)

// maxShape is how many values a shape has.
const maxShape = 100

// identifier is the form of the names that a program gives to members. Another one can be personal data.
var identifier = regexp.MustCompile(`^[A-Za-z_$@][A-Za-z0-9_-]{0,39}$`)

// capture has the shapes of deliveries logged, one a second.
func capture(deliver func(connection.Key, string, []byte)) func(connection.Key, string, []byte) {
	limiter := rate.NewLimiter(1, 10)
	return func(key connection.Key, contentType string, body []byte) {
		if limiter.Allow() {
			log.Log.Info("Captured the shape of a notification", "kind", key.Kind,
				"namespace", key.Namespace, "name", key.Name, "shape", shapeOf(contentType, body))
		}
		deliver(key, contentType, body)
	}
}

// shapeOf describes a delivery without its values: the names of members, and how long their values are. So a person can
// see what the service sends. Where names and values cannot be told apart, it says how long the whole is.
func shapeOf(contentType string, body []byte) (shape []string) {
	media, _, _ := mime.ParseMediaType(contentType)
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	format := formatOf(media, trimmed)
	shape = []string{fmt.Sprintf("%s as %q, %d bytes", format, wire.Printable(media[:min(len(media), 40)]), len(body))}
	if format == formatText || format == formatJSON && !json.Valid(trimmed) || format == formatForm && media == "" {
		return shape
	}
	scan(media, body, func(parent, key, text string) {
		if len(shape) <= maxShape {
			shape = append(shape, fmt.Sprintf("%s.%s: %d", shownName(parent), shownName(key), utf8.RuneCountInString(text)))
		}
	})
	return shape
}

// shownName is a name, if it is an identifier.
func shownName(name string) string {
	if name == "" || identifier.MatchString(name) {
		return name
	}
	return fmt.Sprintf("(a name of %d characters)", utf8.RuneCountInString(name))
}
