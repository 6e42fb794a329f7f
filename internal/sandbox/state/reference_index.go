package state

import (
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// referenceIndex has the references in use, with their applications. A reference
// that stays reserved after its application is gone has no application.
type referenceIndex map[string][]reservation

type reservation struct {
	name string
	app  *application
}

func (n referenceIndex) add(name string, app *application) {
	if name != "" {
		n[fold(name)] = append(n[fold(name)], reservation{name, app})
	}
}

// remove releases the reference of a removed application, or keeps it reserved.
func (n referenceIndex) remove(name string, app *application, reserved bool) {
	key := fold(name)
	i := slices.Index(n[key], reservation{name, app})
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
	return slices.ContainsFunc(n[fold(name)], func(r reservation) bool {
		freed := r.app != nil && r.app.Archived && d.ArchivedReferences == dialect.ArchivedReferencesFreed
		return sameName(r.name, name, d) && !freed
	})
}

func sameName(a, b string, d dialect.Dialect) bool {
	return a == b || d.ReferenceCase == dialect.ReferenceCaseIgnored && fold(a) == fold(b)
}

func fold(name string) string { return strings.ToLower(name) }
