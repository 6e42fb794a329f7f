package sandbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// encoding is the part of a dialect that decides how the same data is written. The zero value is the documented one.
type encoding struct {
	ids, statusShape, statusCase, stateNames string
	absent, extra, memberCase                string
	shown                                    shownData
}

func encodingOf(d dialect.Dialect) encoding {
	return encoding{
		ids: d.IDs, statusShape: d.StatusShape, statusCase: d.StatusCase, stateNames: d.StateNames,
		absent: d.AbsentValues, extra: d.ExtraMembers, memberCase: d.MemberCase, shown: shownDataOf(d),
	}
}

// decodeTree decodes JSON of our own. Numbers stay as they are written.
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
		"id": true, "individual": true, "check_field": true,
		"individual_id": true, "application_id": true, "mandate_id": true,
	}
	// dictionaries are members whose own members are named by data.
	dictionaries = map[string]bool{"instance": true, "mandate_types": true, "countries": true, "document_types": true}
)

// encode rewrites a whole tree. The members of a dictionary keep their names, and no members are added.
func (e encoding) encode(tree any, dictionary bool) any {
	switch node := tree.(type) {
	case []any:
		for i, child := range node {
			node[i] = e.encode(child, false)
		}
	case map[string]any:
		return e.encodeObject(node, dictionary)
	}
	return tree
}

func (e encoding) encodeObject(node map[string]any, dictionary bool) map[string]any {
	encoded := map[string]any{}
	for name, child := range node {
		value, present := e.value(name, child)
		switch {
		case dictionary:
			encoded[name] = value
		case present:
			encoded[e.member(name)] = value
		}
	}
	if e.extra == dialect.ExtraMembersPresent && !dictionary {
		addExtraMembers(encoded)
	}
	return encoded
}

func (e encoding) value(name string, child any) (value any, present bool) {
	if status, isObject := child.(map[string]any); isObject && name == "status" {
		return e.status(status), true
	}
	if number, isNumber := child.(json.Number); isNumber && idMembers[name] {
		switch e.ids {
		case dialect.IDsString:
			return number.String(), true
		case dialect.IDsFloat:
			return number + ".0", true
		}
	}
	return e.encodeAbsent(e.encode(child, dictionaries[name]))
}

// encodeAbsent writes null, "" and an empty list as the dialect says.
func (e encoding) encodeAbsent(value any) (any, bool) {
	list, isList := value.([]any)
	if value != nil && value != "" && (!isList || len(list) > 0) {
		return value, true
	}
	switch e.absent {
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

// stateNames are names other than the documented ones. They apply to individuals and checks too.
var stateNames = map[string]map[string]string{
	dialect.StateNamesDeclined:   {"rejected": "declined"},
	dialect.StateNamesByReviewer: {"rejected": "rejected by reviewer"},
	dialect.StateNamesOther:      {"rejected": "refused", "completed": "closed", "in review": "under review"},
	dialect.StateNamesApproved: {
		"rejected": "denied", "completed": "approved", "in review": "awaiting decision",
	},
	dialect.StateNamesGerman: {
		"rejected": "abgelehnt", "completed": "abgeschlossen", "in review": "in Prüfung", "created": "angelegt",
		"in progress": "in Bearbeitung",
	},
	dialect.StateNamesCodes: {
		"rejected": "S35", "completed": "S34", "in review": "S21", "created": "S12", "in progress": "S15",
	},
}

func (e encoding) status(status map[string]any) any {
	name, _ := status["status"].(string)
	if other, renamed := stateNames[e.stateNames][name]; renamed {
		name = other
	}
	switch e.statusCase {
	case dialect.StatusSnake:
		name = strings.ReplaceAll(name, " ", "_")
	case dialect.StatusKebab:
		name = strings.NewReplacer(" ", "-", "_", "-").Replace(name)
	case dialect.StatusUpper:
		name = strings.ToUpper(name)
	case dialect.StatusTitle:
		name = joinWords(strings.Fields(strings.ReplaceAll(name, "_", " ")), " ", true)
	}
	switch e.statusShape {
	case dialect.StatusString:
		return name
	case dialect.StatusInteger:
		return status["id"]
	default:
		return e.encodeObject(map[string]any{"id": status["id"], "status": name}, false)
	}
}

func (e encoding) member(name string) string {
	words := strings.Split(name, "_")
	switch e.memberCase {
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

// joinWords capitalises all words, the first one only if capitaliseFirst is true.
func joinWords(words []string, separator string, capitaliseFirst bool) string {
	capitalised := make([]string, len(words))
	for i, word := range words {
		runes := []rune(word)
		if len(runes) > 0 && (capitaliseFirst || i > 0) {
			runes[0] = unicode.ToUpper(runes[0])
		}
		capitalised[i] = string(runes)
	}
	return strings.Join(capitalised, separator)
}

// addExtraMembers adds undocumented members. Some of them look like documented ones of another object.
func addExtraMembers(node map[string]any) {
	node["x_note"] = "an undocumented member"
	node["x_number"] = json.Number("1.5e300")
	node["x_nothing"] = nil
	node["x_list"] = []any{nil, true, map[string]any{"id": 2}}
	status := map[string]any{"id": 1, "status": "completed"}
	node["x_extra"] = map[string]any{"id": 1, "reference": "x", "status": status}
}
