package sandbox

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

//go:embed page
var pageFiles embed.FS

// pageScripts are concatenated in this order.
var pageScripts = []string{"dom.js", "format.js", "api.js", "mailbox.js", "applications.js", "tools.js", "main.js"}

// page is one HTML file with all styles and scripts. It holds no data: its script reads that from the control API and
// inserts it as text.
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
		policy: "default-src 'none'; style-src " + sourceHash(style) + "; script-src " + sourceHash(script.Bytes()) +
			"; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
}

func readPageFile(name string) []byte {
	content, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return content
}

// sourceHash is the source in a Content-Security-Policy that allows this inline code and no other.
func sourceHash(source []byte) string {
	sum := sha256.Sum256(source)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// sandboxPage is the same for every sandbox. It is rendered at the first request.
var sandboxPage = sync.OnceValue(newPage)

func servePage(w http.ResponseWriter, _ *http.Request) {
	p := sandboxPage()
	for name, value := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Content-Security-Policy": p.policy,
		"X-Content-Type-Options":  "nosniff",
		"Referrer-Policy":         "no-referrer",
		"Cache-Control":           "no-store",
	} {
		w.Header().Set(name, value)
	}
	_, _ = w.Write(p.html)
}
