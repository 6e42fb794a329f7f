package notification

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
)

// challengeNames are the names under which a text to echo comes: before a subscription, some services ask whether the
// receiver wants it, in the query of a GET or a POST, or in the body of a POST. Not documented: our reading.
var challengeNames = []string{"challenge", "hub.challenge", "validationToken", "validation_token", "crc_token"}

// echoed is the form of a text that is echoed: it is short, and harmless wherever it is shown.
var echoed = regexp.MustCompile(`^[^<>&"'[:^print:]]{1,256}$`)

// challengeIn finds a text to echo, and its name; "" if there is none.
func challengeIn(get func(name string) string) (name, text string) {
	for _, name := range challengeNames {
		if text := get(name); echoed.MatchString(text) {
			return name, text
		}
	}
	return "", ""
}

// answerHandshake echoes the text of a handshake, in the form in which it came, and reports whether there was one. A
// delivery has more than that text and the kind of the message.
func answerHandshake(w http.ResponseWriter, request *http.Request, body []byte) bool {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, text := challengeIn(request.URL.Query().Get); text != "" && len(body) == 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
		return true
	}
	var fields map[string]any
	err := json.Unmarshal(body, &fields)
	name, text := challengeIn(func(name string) string {
		text, _ := fields[name].(string)
		return text
	})
	if err != nil || text == "" || len(fields) > 3 {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{name: text})
	return true
}
