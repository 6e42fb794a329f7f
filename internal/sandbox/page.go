package sandbox

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

//go:embed page
var pageFiles embed.FS

// pageScripts are concatenated in this order.
var pageScripts = []string{"dom.js", "format.js", "api.js", "mailbox.js", "applications.js", "tools.js", "main.js"}

// page is one HTML file with everything in it. It holds no data: its script asks
// the control API for that, and puts it in as text.
type page struct {
	html   []byte
	policy string
}

func newPage() page {
	style := readPageFile("style.css")
	var script bytes.Buffer
	script.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range pageScripts {
		script.Write(readPageFile(name))
	}
	script.WriteString("})();\n")
	var html bytes.Buffer
	err := template.Must(template.New("page").Parse(string(readPageFile("index.html")))).Execute(&html, map[string]any{
		"Style":   template.CSS(style),          //nolint:gosec // our own file
		"Script":  template.JS(script.String()), //nolint:gosec // our own files
		"API":     apiPrefix,
		"Control": control.Prefix,
		"Routes":  controlRoutes(), "Operations": control.Operations(),
	})
	if err != nil {
		panic(err) // the data does not change
	}
	return page{
		html: html.Bytes(),
		policy: fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; connect-src 'self'; "+
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", sourceHash(style), sourceHash(script.Bytes())),
	}
}

func readPageFile(name string) []byte {
	content, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it was there when this was built
	}
	return content
}

// sourceHash lets a browser run this inline code and no other.
func sourceHash(source []byte) string {
	sum := sha256.Sum256(source)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// sandboxPage is the same for every sandbox, and most never show it.
var sandboxPage = sync.OnceValue(newPage)

func servePage(w http.ResponseWriter, _ *http.Request) {
	people := sandboxPage()
	for name, value := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Content-Security-Policy": people.policy,
		"X-Content-Type-Options":  "nosniff",
		"Referrer-Policy":         "no-referrer",
		"Cache-Control":           "no-store",
	} {
		w.Header().Set(name, value)
	}
	_, _ = w.Write(people.html)
}
