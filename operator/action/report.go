package action

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// file is a report as it is stored.
type file struct {
	contentType string // as the service calls it, or as the content looks; may be empty
	content     []byte
}

// readReport makes a file of the service's answer. Its format is not documented; what is read here are our readings:
//
//   - bytes are the file;
//   - JSON in which one text is a file in base64, wherever it is: that file;
//   - JSON without lists in which one text is a URL: that is where a file would be. It is not followed: an attacker who
//     makes the service name a URL could make the operator, which runs inside the cluster, request it;
//   - other JSON is the report itself, and stays as it is.
func readReport(contentType string, body []byte) (report file, isURL bool) {
	report = file{contentType: contentType, content: body}
	if !mayBeJSON(contentType) || !json.Valid(body) {
		return report, false
	}
	var found texts
	found.collect(json.NewDecoder(bytes.NewReader(body)))
	switch {
	case len(found.files) == 1:
		return found.files[0], false
	case len(found.files) == 0 && found.urls == 1 && !found.list:
		return file{}, true
	default:
		return report, false
	}
}

func mayBeJSON(contentType string) bool {
	return contentType == "" || contentType == "text/plain" || contentType == "application/octet-stream" ||
		contentType == "application/json" || strings.HasSuffix(contentType, "+json")
}

// texts is what the texts in an answer are.
type texts struct {
	files []file
	urls  int
	list  bool
}

// collect reads the next value of valid JSON, token by token: decoded as a whole, it could take a hundred times its
// size.
func (t *texts) collect(decoder *json.Decoder) {
	token, _ := decoder.Token()
	switch v := token.(type) {
	case string:
		t.read(v)
	case json.Delim:
		for decoder.More() {
			if v == '[' {
				t.list = true
			} else {
				_, _ = decoder.Token() // the name of a member
			}
			t.collect(decoder)
		}
		_, _ = decoder.Token() // the end
	}
}

func (t *texts) read(text string) {
	if decoded, ok := decodeFile(text); ok {
		t.files = append(t.files, decoded)
		return
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
		t.urls++
	}
}

// decodeFile decodes base64 in any of its variants. Many a word is base64 by accident: only what looks like a file is
// one.
func decodeFile(text string) (file, bool) {
	if data, ok := strings.CutPrefix(text, "data:"); ok {
		_, text, _ = strings.Cut(data, ",")
	}
	text = strings.NewReplacer("\n", "", "\r", "", "-", "+", "_", "/", "=", "").Replace(text)
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return file{}, false
	}
	contentType, _, err := mime.ParseMediaType(http.DetectContentType(decoded))
	if err != nil || slices.Contains([]string{"text/plain", "application/octet-stream"}, contentType) {
		return file{}, false
	}
	return file{contentType: contentType, content: decoded}, true
}
