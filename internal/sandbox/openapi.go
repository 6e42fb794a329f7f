package sandbox

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
	"github.com/mandate-io/idv/internal/sandbox/state"
)

type object = map[string]any

// The types of bodies that no other code needs.
type (
	loginForm struct {
		GrantType    string `json:"grant_type"`
		Username     string `json:"username"`
		Password     string `json:"password"`
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	newApplication struct {
		Name                      string              `json:"name"`
		Reference                 *string             `json:"reference"`
		MandateType               int64               `json:"mandate_type"`
		SuppressEmailNotification bool                `json:"suppress_email_notification"`
		Individuals               []config.Individual `json:"individuals"`
	}
	checkDecision struct {
		Comment    string `json:"comment"`
		CommentFor string `json:"comment_for"`
		Reference  *int64 `json:"reference"`
	}
	referenceData struct {
		MandateTypes  []state.MandateType   `json:"mandate_types"`
		Countries     []config.Country      `json:"countries"`
		DocumentTypes []config.DocumentType `json:"document_types"`
	}
	subscription struct {
		ID            int64    `json:"id"`
		URL           string   `json:"url"`
		Events        []string `json:"events"`
		ApplicationID *int64   `json:"application_id"`
	}
	pdf         struct{}
	emptyObject struct{}
)

// interfaceDocument describes the service's interface as the sandbox serves it in a dialect. It follows the methods of
// the dialect; the bodies are those of the documented one.
func interfaceDocument(d dialect.Dialect) object {
	known := schemas{}
	known["Problem"] = object{"type": "object", "required": []string{"type", "title", "status"}, "properties": object{
		"type": object{"type": "string"}, "title": object{"type": "string"}, "status": object{"type": "string"},
		"exception": object{"type": "object"}, "detail": object{"type": "string"}, "instance": object{"type": "string"},
	}}
	problem := object{"$ref": "#/components/schemas/Problem"}
	paths := object{}
	for _, op := range operations {
		described := object{
			"operationId": string(op.name), "summary": op.summary,
			"responses": responses(op.out, known, mediaProblem, problem),
		}
		if op.name == control.Token {
			described["security"] = []any{}
		}
		if op.body.mediaType != "" {
			described["requestBody"] = content(op.body.mediaType, known.input(op.in))
		}
		if strings.Contains(op.path, "{id}") {
			described["parameters"] = []any{parameter("id", "path", "integer")}
		}
		item, _ := paths[op.path].(object)
		if item == nil {
			item = object{}
		}
		item[strings.ToLower(op.method(d))] = described
		paths[op.path] = item
	}
	return document("Identity verification service", apiPrefix, paths, known, object{
		"security": []any{object{"bearer": []string{}}},
	})
}

// controlDocument describes the control API.
func controlDocument() object {
	known := schemas{}
	failure := known.of(control.Failure{})
	paths := object{}
	for _, route := range controlRoutes() {
		described := object{
			"summary": route.Summary, "parameters": []any{parameter(control.AccountParameter, "query", "string")},
			"responses": responses(route.out, known, mediaJSON, failure),
		}
		if strings.Contains(route.Summary, "?after=") {
			described["parameters"] = []any{parameter("after", "query", "integer")}
		}
		if route.in != nil {
			described["requestBody"] = content(mediaJSON, known.input(route.in))
		}
		item, _ := paths[route.Path].(object)
		if item == nil {
			item = object{}
		}
		item[strings.ToLower(route.Method)] = described
		paths[route.Path] = item
	}
	return document("Control API of the sandbox", control.Prefix, paths, known, object{})
}

func document(title, prefix string, paths object, known schemas, more object) object {
	more["openapi"] = "3.1.0"
	more["info"] = object{"title": title, "version": "1"}
	more["servers"] = []any{object{"url": prefix}}
	more["paths"] = paths
	more["components"] = object{
		"schemas":         known,
		"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer"}},
	}
	return more
}

// responses are that of a success with its body, and that of every error.
func responses(out any, known schemas, errorType string, failure any) object {
	status, success := http.StatusOK, object{"description": "success"}
	switch out.(type) {
	case none:
		status = http.StatusNoContent
	case pdf:
		success["content"] = content("application/pdf", object{})["content"]
	default:
		success["content"] = content(mediaJSON, known.of(out))["content"]
	}
	failed := content(errorType, failure)
	failed["description"] = "an error"
	return object{strconv.Itoa(status): success, "default": failed}
}

func content(mediaType string, schema any) object {
	return object{"content": object{mediaType: object{"schema": schema}}}
}

func parameter(name, in, kind string) object {
	return object{"name": name, "in": in, "required": in == "path", "schema": object{"type": kind}}
}

func (s *Service) routeDocuments() {
	s.mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, r *http.Request) {
		a, err := s.controlled(r.URL.Query().Get(control.AccountParameter))
		if err != nil {
			writeJSON(w, http.StatusNotFound, control.Failure{Error: err.Error()})
			return
		}
		writeJSON(w, http.StatusOK, interfaceDocument(a.dialect.Get()))
	})
	s.mux.HandleFunc("GET "+control.Prefix+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, controlDocument())
	})
}
