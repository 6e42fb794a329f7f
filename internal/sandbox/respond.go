package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// reply is the answer of an operation that went well.
type reply struct {
	status int
	// json is encoded as the body; nil means no body.
	json any
	// unwrapped keeps the Wrap dialect away.
	unwrapped bool
	// file is sent as it is with its contentType.
	file        []byte
	contentType string
}

func ok(body any) reply { return reply{status: http.StatusOK, json: body} }

type message struct {
	Message string `json:"message"`
}

func (a reply) write(w http.ResponseWriter, c *call) {
	if a.json != nil {
		a.file, a.contentType = encode(a.json, c.dialect, a.unwrapped), "application/json"
	}
	if a.contentType != "" {
		w.Header().Set("Content-Type", a.contentType)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.file)
}

// encode writes a body as the dialect spells it.
func encode(body any, spoken dialect.Dialect, unwrapped bool) []byte {
	encoded := mustMarshal(body)
	if spoken.IDs != "" || spoken.StatusShape != "" || spoken.StatusCase != "" {
		decoder := json.NewDecoder(bytes.NewReader(encoded))
		decoder.UseNumber()
		var tree any
		if err := decoder.Decode(&tree); err != nil {
			panic(err) // it was encoded a moment ago
		}
		respell(tree, spoken)
		encoded = mustMarshal(tree)
	}
	if spoken.Wrap == dialect.WrapData && !unwrapped {
		encoded = mustMarshal(map[string]json.RawMessage{"data": encoded})
	}
	return encoded
}

func mustMarshal(value any) []byte {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // only our own types and members that were JSON when they came
	}
	return encoded
}

var idMembers = map[string]bool{"id": true, "individual": true, "check_field": true, "application_id": true, "mandate_id": true}

// respell changes ids and statuses in place, all the way down.
func respell(tree any, spoken dialect.Dialect) {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			respell(child, spoken)
		}
	case map[string]any:
		for name, child := range node {
			if status, isObject := child.(map[string]any); isObject && name == "status" {
				node[name] = respellStatus(status, spoken)
				continue
			}
			number, isNumber := child.(json.Number)
			if isNumber && idMembers[name] && spoken.IDs == dialect.IDsString {
				node[name] = number.String()
				continue
			}
			respell(child, spoken)
		}
	}
}

func respellStatus(status map[string]any, spoken dialect.Dialect) any {
	respell(status, dialect.Dialect{IDs: spoken.IDs})
	name, _ := status["status"].(string)
	switch spoken.StatusCase {
	case dialect.StatusSnake:
		name = strings.ReplaceAll(name, " ", "_")
	case dialect.StatusUpper:
		name = strings.ToUpper(name)
	}
	switch spoken.StatusShape {
	case dialect.StatusString:
		return name
	case dialect.StatusInteger:
		return status["id"]
	default:
		status["status"] = name
		return status
	}
}
