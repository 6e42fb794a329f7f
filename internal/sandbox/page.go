package sandbox

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

func (s *Service) routePage() {
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		var html bytes.Buffer
		err := page.Execute(&html, map[string]any{
			"API": apiPrefix, "Control": control.Prefix, "Routes": controlRoutes(), "Switches": s.dialect.Get().Switches(),
		})
		if err != nil {
			http.Error(w, "the page cannot be made", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_, _ = w.Write(html.Bytes())
	})
}
