package state

import (
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// names knows which references are taken, and by which application. What stays
// reserved when its application is gone has a holder without one.
type referenceIndex map[string][]holder

type holder struct {
	name string
	app  *application
}

func (n referenceIndex) add(name string, app *application) {
	if name != "" {
		n[fold(name)] = append(n[fold(name)], holder{name, app})
	}
}

// leave is called when an application goes; reserved keeps its name taken.
func (n referenceIndex) remove(name string, app *application, reserved bool) {
	key := fold(name)
	i := slices.Index(n[key], holder{name, app})
	switch {
	case i < 0:
	case reserved:
		n[key][i].app = nil
	default:
		n[key] = slices.Delete(n[key], i, i+1)
	}
	if len(n[key]) == 0 {
		delete(n, key)
	}
}

func (n referenceIndex) contains(name string, d dialect.Dialect) bool {
	return slices.ContainsFunc(n[fold(name)], func(h holder) bool {
		freed := h.app != nil && h.app.Archived && d.ArchivedReferences == dialect.ArchivedReferencesFreed
		return sameName(h.name, name, d) && !freed
	})
}

func sameName(a, b string, d dialect.Dialect) bool {
	return a == b || d.ReferenceCase == dialect.ReferenceCaseIgnored && fold(a) == fold(b)
}

func fold(name string) string { return strings.ToLower(name) }
