package receiver

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// hiddenToken replaces a token, as url.URL.Redacted replaces a password.
const hiddenToken = "xxxxx"

// DisplayURL returns a URL without the parts that often contain a token: user, query, fragment, and long segments of
// the path.
func DisplayURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "its URL"
	}
	u.User = nil
	u.RawQuery, u.ForceQuery = "", false
	u.Fragment, u.RawFragment = "", ""
	segments := strings.Split(u.EscapedPath(), "/")
	for n, segment := range segments {
		if MayBeToken(segment) {
			segments[n] = hiddenToken
		}
	}
	u.RawPath = strings.Join(segments, "/")
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return "its URL"
	}
	return u.String()
}

// MayBeToken reports whether a segment of a path is as long as a token of the operator's receiver.
func MayBeToken(segment string) bool { return utf8.RuneCountInString(segment) >= MinTokenLength }

// MayHaveToken reports whether a part of a URL may be a token: the user, the query, the fragment, and a segment of the
// path that is long or has digits.
func MayHaveToken(text string) bool {
	return DisplayURL(text) != text || len(URLSecrets(text, func(segment string) bool {
		return len(segment) >= 16 || len(segment) >= 8 && strings.ContainsAny(segment, "0123456789")
	})) > 0
}

// HostOf is the part of a URL that never has a token.
func HostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "its URL"
	}
	return u.Host
}

// URLSecrets returns the parts of a URL that DisplayURL leaves out, and of the user and the segments of the path those
// that are secret.
func URLSecrets(text string, isSecret func(part string) bool) []string {
	u, err := url.Parse(text)
	if err != nil {
		return []string{text}
	}
	secrets := []string{u.Fragment}
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, password)
	}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	for part := range strings.SplitSeq(u.User.Username()+"/"+u.Path, "/") {
		if isSecret(part) {
			secrets = append(secrets, part)
		}
	}
	return slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" })
}
