package sandbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// spelling is the part of a dialect that decides how the same data is written.
// The zero value is the documented one.
type spelling struct{ ids, statusShape, statusCase, stateNames, absent, extra, memberCase string }

func spellingOf(d dialect.Dialect) spelling {
	return spelling{d.IDs, d.StatusShape, d.StatusCase, d.StateNames, d.AbsentValues, d.ExtraMembers, d.MemberCase}
}

// decodeTree decodes what was encoded a moment ago; numbers stay as they are written.
func decodeTree(encoded []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		panic(err)
	}
	return tree
}

var (
	idMembers = map[string]bool{
		"id": true, "individual": true, "check_field": true, "individual_id": true, "application_id": true, "mandate_id": true,
	}
	// dictionaries are members whose own members are named by data.
	dictionaries = map[string]bool{"instance": true, "mandate_types": true, "countries": true, "document_types": true}
)

// respell rewrites a tree all the way down. The members of a dictionary keep
// their names and get no neighbours.
func (s spelling) respell(tree any, dictionary bool) any {
	switch node := tree.(type) {
	case []any:
		for i, child := range node {
			node[i] = s.respell(child, false)
		}
	case map[string]any:
		return s.respellObject(node, dictionary)
	}
	return tree
}

func (s spelling) respellObject(node map[string]any, dictionary bool) map[string]any {
	spelled := map[string]any{}
	for name, child := range node {
		value, present := s.value(name, child)
		switch {
		case dictionary:
			spelled[name] = value
		case present:
			spelled[s.member(name)] = value
		}
	}
	if s.extra == dialect.ExtraMembersPresent && !dictionary {
		addExtraMembers(spelled)
	}
	return spelled
}

func (s spelling) value(name string, child any) (value any, present bool) {
	if status, isObject := child.(map[string]any); isObject && name == "status" {
		return s.status(status), true
	}
	if number, isNumber := child.(json.Number); isNumber && idMembers[name] && s.ids == dialect.IDsString {
		return number.String(), true
	}
	return s.orAbsent(s.respell(child, dictionaries[name]))
}

// orAbsent writes null, "" and an empty list in the dialect's way.
func (s spelling) orAbsent(value any) (any, bool) {
	list, isList := value.([]any)
	if value != nil && value != "" && (!isList || len(list) > 0) {
		return value, true
	}
	switch s.absent {
	case dialect.AbsentNull:
		return nil, true
	case dialect.AbsentEmpty:
		if isList {
			return value, true
		}
		return "", true
	case dialect.AbsentMissing:
		return nil, false
	default:
		return value, true
	}
}

// stateNames are the names other than the documented ones. Those of individuals and
// checks are translated with them: a service that says so says so everywhere.
var stateNames = map[string]map[string]string{
	dialect.StateNamesDeclined:   {"rejected": "declined"},
	dialect.StateNamesByReviewer: {"rejected": "rejected by reviewer"},
	dialect.StateNamesOther:      {"rejected": "refused", "completed": "closed", "in review": "under review"},
}

func (s spelling) status(status map[string]any) any {
	name, _ := status["status"].(string)
	if other, renamed := stateNames[s.stateNames][name]; renamed {
		name = other
	}
	switch s.statusCase {
	case dialect.StatusSnake:
		name = strings.ReplaceAll(name, " ", "_")
	case dialect.StatusKebab:
		name = strings.NewReplacer(" ", "-", "_", "-").Replace(name)
	case dialect.StatusUpper:
		name = strings.ToUpper(name)
	case dialect.StatusTitle:
		name = joinWords(strings.Fields(strings.ReplaceAll(name, "_", " ")), " ", true)
	}
	switch s.statusShape {
	case dialect.StatusString:
		return name
	case dialect.StatusInteger:
		return status["id"]
	default:
		return s.respellObject(map[string]any{"id": status["id"], "status": name}, false)
	}
}

func (s spelling) member(name string) string {
	words := strings.Split(name, "_")
	switch s.memberCase {
	case dialect.MemberCaseCamel:
		return joinWords(words, "", false)
	case dialect.MemberCasePascal:
		return joinWords(words, "", true)
	case dialect.MemberCaseUpper:
		return strings.ToUpper(name)
	default:
		return name
	}
}

// joinWords capitalises all words but the first, and that one too if asked to.
func joinWords(words []string, separator string, first bool) string {
	capitalised := make([]string, len(words))
	for i, word := range words {
		runes := []rune(word)
		if len(runes) > 0 && (first || i > 0) {
			runes[0] = unicode.ToUpper(runes[0])
		}
		capitalised[i] = string(runes)
	}
	return strings.Join(capitalised, separator)
}

// addExtraMembers adds members that look like others, deeper down, where nobody should look.
func addExtraMembers(node map[string]any) {
	node["x_note"] = "a member that nobody knows"
	node["x_number"] = json.Number("1.5e300")
	node["x_nothing"] = nil
	node["x_list"] = []any{nil, true, map[string]any{"id": 2}}
	node["x_extra"] = map[string]any{"id": 1, "reference": "x", "status": map[string]any{"id": 1, "status": "completed"}}
}
