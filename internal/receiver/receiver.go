// Package receiver makes the URLs at which the operator receives notifications of the service. The operator and the
// provider share it, so that both subscribe the same URL.
package receiver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The keys of the Secret: the token, the one from before while it is rotated, and a JSON object with further fields of
// a subscription that the operator makes, such as {"secret": "..."}.
const (
	KeyToken         = "token"
	KeyPreviousToken = "previousToken"
	KeyPayload       = "payload.json"
)

const (
	// MinTokenLength is the least number of characters of a token.
	MinTokenLength = 32
	// ClusterNamespace takes the place of the namespace of a ClusterIdentityService.
	ClusterNamespace = "-"
)

// Path is the path of a service's notifications, without the token. An empty namespace is that of a
// ClusterIdentityService.
func Path(namespace, name string) string {
	if namespace == "" {
		namespace = ClusterNamespace
	}
	return "/notifications/" + namespace + "/" + name
}

// URL is where a service delivers: the base, a path, and the token, if there is one.
func URL(base, path, token string) string {
	address := strings.TrimRight(base, "/") + path
	if token != "" {
		address += "/" + url.PathEscape(token)
	}
	return address
}

// TokenOf gives the token in a key of a Secret, and whether it can be one. Editors leave a line break at the end.
func TokenOf(value []byte) (token string, ok bool) {
	token = strings.TrimSpace(string(value))
	return token, IsToken(token)
}

// Digest of a token, as the status of a service has it.
func Digest(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// PayloadOf gives the further fields of a subscription in a key of a Secret, nil for none, and whether they are a JSON
// object.
func PayloadOf(value []byte) (payload json.RawMessage, ok bool) {
	var fields map[string]json.RawMessage
	if len(value) == 0 {
		return nil, true
	}
	return value, json.Unmarshal(value, &fields) == nil && fields != nil
}

// IsToken reports whether a text can be a token: it is long enough, without white space and control characters.
func IsToken(text string) bool {
	unfit := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return utf8.RuneCountInString(text) >= MinTokenLength && !strings.ContainsFunc(text, unfit)
}
