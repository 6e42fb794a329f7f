package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// An adoption is the application that a Mandate is to have. Without a namespace, it is that of the command.
type adoption struct {
	Namespace     string `json:"namespace"`
	Name          string `json:"name"`
	ApplicationID int64  `json:"applicationID"`
}

// readAdoptions reads lines, CSV, a list in JSON, or an export. Each Mandate is there once.
func readAdoptions(text []byte) (found []adoption, err error) {
	switch trimmed := bytes.TrimSpace(text); {
	case bytes.HasPrefix(trimmed, []byte("[")):
		if json.Unmarshal(trimmed, &found) != nil {
			return nil, fmt.Errorf("the file is no JSON list of objects with name and applicationID")
		}
	case bytes.Contains(text, []byte(v1alpha1.SchemeGroupVersion.String())):
		moved, err := readMoved(text, "")
		if err != nil {
			return nil, err
		}
		found = adoptionsIn(moved)
	default:
		if found, err = adoptionsOfLines(string(trimmed)); err != nil {
			return nil, err
		}
	}
	seen := map[adoption]bool{}
	for i, a := range found {
		name := adoption{Namespace: a.Namespace, Name: a.Name}
		if len(validation.IsDNS1123Subdomain(a.Name)) > 0 || a.ApplicationID < 1 || seen[name] {
			return nil, fmt.Errorf("entry %d of the file has no name and APPLICATION_ID, or a name that is there before", i+1)
		}
		seen[name] = true
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("the file has no NAME with an APPLICATION_ID")
	}
	return found, nil
}

// adoptionsIn are those of an export: by the record of a Mandate, or else by its status.
func adoptionsIn(found []client.Object) (adoptions []adoption) {
	known := map[string]bool{}
	add := func(namespace, name string, id *int64) {
		if key := namespace + "/" + name; id != nil && !known[key] {
			known[key] = true
			adoptions = append(adoptions, adoption{namespace, name, *id})
		}
	}
	for _, record := range of[*v1alpha1.ApplicationRecord](found) {
		add(record.Namespace, record.Name, record.Spec.ApplicationID)
	}
	for _, m := range of[*v1alpha1.Mandate](found) {
		add(m.Namespace, m.Name, m.Status.ApplicationID)
	}
	return adoptions
}

// adoptionsOfLines reads NAME or NAMESPACE/NAME, and APPLICATION_ID, with a comma or spaces between them. A first line
// without a number has the headings, and # begins a comment.
func adoptionsOfLines(text string) (found []adoption, err error) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		cells := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,;\"\t\r\n", r) })
		if len(cells) == 0 {
			continue
		}
		id, err := strconv.ParseInt(cells[len(cells)-1], 10, 64)
		switch {
		case err != nil && number == 1:
			continue
		case err != nil || len(cells) != 2:
			return nil, fmt.Errorf("line %d of the file is not NAME APPLICATION_ID", number)
		}
		namespace, name, named := strings.Cut(cells[0], "/")
		if !named {
			namespace, name = "", cells[0]
		}
		found = append(found, adoption{namespace, name, id})
	}
	return found, nil
}
