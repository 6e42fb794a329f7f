package notification

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// Before a subscription, some services ask whether the receiver wants it, and expect a text of theirs back: in the
// query of a GET or a POST, or in the body of a POST. Not documented: our reading.

// challengeNames are the names under which a text to echo comes.
var challengeNames = []string{"challenge", "hub.challenge", "validationToken", "validation_token", "crc_token"}

// maxChallenge is the length of a text that is echoed.
const maxChallenge = 256

func queryChallenge(request *http.Request) string {
	for _, name := range challengeNames {
		if text := request.URL.Query().Get(name); isChallenge(text) {
			return text
		}
	}
	return ""
}

// isChallenge reports whether a text may be echoed: it is short, and harmless wherever it is shown.
func isChallenge(text string) bool {
	unfit := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsPrint(r) || strings.ContainsRune("<>&\"'", r)
	}
	return text != "" && len(text) <= maxChallenge && !strings.ContainsFunc(text, unfit)
}

// answerHandshake echoes the text of a handshake, in the form in which it came, and reports whether there was one. A
// delivery has more than that text and the kind of the message.
func answerHandshake(w http.ResponseWriter, request *http.Request, body []byte) bool {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if text := queryChallenge(request); text != "" && len(body) == 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
		return true
	}
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil || len(fields) > 3 {
		return false
	}
	for _, name := range challengeNames {
		if text, _ := fields[name].(string); isChallenge(text) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]string{name: text})
			return true
		}
	}
	return false
}
