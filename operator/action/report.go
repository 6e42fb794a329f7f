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
//   - JSON in which one text is a file in base64, with at most texts and numbers beside it: that file;
//   - the same with a URL: that is where a file would be. It is not followed: an attacker who makes the service name a
//     URL could make the operator, which runs inside the cluster, request it;
//   - other JSON is the report itself, and stays as it is. A picture or a recording beside other things may be one of
//     the individual, and no report.
func readReport(contentType string, body []byte) (report file, isURL bool) {
	report = file{contentType: contentType, content: body}
	if !mayBeJSON(contentType) || !json.Valid(body) {
		return report, false
	}
	var found texts
	found.collect(json.NewDecoder(bytes.NewReader(body)), 0)
	switch {
	case found.list || found.objects > found.depth:
		return report, false
	case len(found.files) == 1 && (!found.files[0].isMedia() || found.members == found.depth):
		return found.files[0], false
	case len(found.files) == 0 && found.urls == 1:
		return file{}, true
	default:
		return report, false
	}
}

func mayBeJSON(contentType string) bool {
	return contentType == "" || contentType == "text/plain" || contentType == "application/octet-stream" ||
		contentType == "application/json" || strings.HasSuffix(contentType, "+json")
}

// isMedia reports whether a file shows something, and is no document.
func (f *file) isMedia() bool {
	kind, _, _ := strings.Cut(f.contentType, "/")
	return slices.Contains([]string{"image", "video", "audio"}, kind)
}

// texts is what the texts in an answer are, and what is beside them.
type texts struct {
	files   []file
	urls    int
	depth   int // of the file or the URL: how many objects it is in
	objects int // that are not empty
	members int // of objects
	list    bool
}

// collect reads the next value of valid JSON, token by token: decoded as a whole, it could take a hundred times its
// size.
func (t *texts) collect(decoder *json.Decoder, depth int) {
	token, _ := decoder.Token()
	switch v := token.(type) {
	case string:
		t.read(v, depth)
	case json.Delim:
		if v == '{' && decoder.More() {
			t.objects++
		}
		for decoder.More() {
			if v == '[' {
				t.list = true
			} else {
				t.members++
				_, _ = decoder.Token() // its name
			}
			t.collect(decoder, depth+1)
		}
		_, _ = decoder.Token() // the end
	}
}

func (t *texts) read(text string, depth int) {
	if decoded, ok := decodeFile(text); ok {
		t.files, t.depth = append(t.files, decoded), depth
		return
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
		t.urls++
		if len(t.files) == 0 {
			t.depth = depth
		}
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
