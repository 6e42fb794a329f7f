package notification

import (
	"encoding/json"
	"regexp"
	"slices"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/operator/connection"
)

// identifier is the form of the names that a program gives to members. Another one can be personal data.
var identifier = regexp.MustCompile(`^[A-Za-z_$@]?[A-Za-z0-9_-]{0,39}$`)

// capture has the names of members in deliveries logged, of one a second, so that a person can see what the service
// sends.
func capture(deliver deliver) deliver {
	limiter := rate.NewLimiter(1, 10)
	return func(key connection.Key, contentType string, body []byte) string {
		if limiter.Allow() {
			log.Log.Info("Captured a notification", "kind", key.Kind, "namespace", key.Namespace, "name", key.Name,
				"bytes", len(body), "names", namesIn(contentType, body))
		}
		return deliver(key, contentType, body)
	}
}

// namesIn are those of members, with those of the members that their objects belong to. Where names and values cannot
// be told apart, there are none.
func namesIn(contentType string, body []byte) (names []string) {
	if !json.Valid(body) && !isForm(contentType) {
		return nil
	}
	read(contentType, body, func(parent, key, text string) {
		name := parent + "." + key
		if !identifier.MatchString(parent) || !identifier.MatchString(key) {
			name = "(no identifier)"
		}
		if text != "" && len(names) < maxCandidates && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}
