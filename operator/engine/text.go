package engine

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/printable"
)

// ReasonOf is the reason of a condition; "" if there is no such condition.
func ReasonOf(conditions []metav1.Condition, kind string) string {
	if condition := meta.FindStatusCondition(conditions, kind); condition != nil {
		return condition.Reason
	}
	return ""
}

// maxText is what the CRDs allow for a text that comes from a service.
const maxText = 256

// TruncateText cuts a text of a user to what the CRDs allow, so that no text makes a status invalid.
func TruncateText(s string) string {
	if runes := []rune(s); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return s
}

// ShowText is what a status shows of a text of the service: its printable characters, as many as the CRDs allow. A text
// that was cut ends with "…".
func ShowText(text string) string { return printable.Cut(text, maxText) }

// StatusBudget is how much of what a service says a status may still show. So no answer makes a status that the API
// server refuses, or that the cache cannot hold for every Mandate.
type StatusBudget struct {
	left     int
	personal *Personal // what no text may show
	// Truncated: something of the service did not fit, or is not shown as it is.
	Truncated bool
}

// NewStatusBudget makes one of so many bytes of JSON, for texts that may be about these people.
func NewStatusBudget(bytes int, personal *Personal) *StatusBudget {
	return &StatusBudget{left: bytes, personal: personal}
}

// Text is ShowText, and remembers whether that is all of the text. It is empty for a text about a person, which is
// as if the service had not written it.
func (b *StatusBudget) Text(text string) string {
	text = b.personal.Shown(text)
	shown := ShowText(text)
	b.Truncated = b.Truncated || shown != text
	return shown
}

// ID is an id if the CRDs allow it, and 0 otherwise.
func (b *StatusBudget) ID(id int64) int64 {
	if id > v1alpha1.MaxID {
		b.Truncated = true
		return 0
	}
	return id
}

// Take takes the bytes of texts that are always shown, with so many bytes around them.
func (b *StatusBudget) Take(around int, texts ...string) { b.left -= around + encodedLength(texts) }

// Fits takes the bytes of texts, or reports that there is not enough.
func (b *StatusBudget) Fits(around int, texts ...string) bool {
	n := around + encodedLength(texts)
	if n > b.left {
		b.Truncated = true
		return false
	}
	b.left -= n
	return true
}

// Part is a part of the budget for one of several that have to share it. Return gives back what it did not need.
func (b *StatusBudget) Part(of int) *StatusBudget {
	part := &StatusBudget{personal: b.personal, left: max(b.left, 0) / of}
	b.left -= part.left
	return part
}

// Return ends the use of a part.
func (b *StatusBudget) Return(part *StatusBudget) {
	b.left += part.left
	b.Truncated = b.Truncated || part.Truncated
}

// encodedLength is the most that the texts take in JSON. encoding/json writes some characters as \u003c.
func encodedLength(texts []string) (bytes int) {
	for _, text := range texts {
		for i := range len(text) {
			switch text[i] {
			case '<', '>', '&':
				bytes += 6
			case '"', '\\':
				bytes += 2
			default:
				bytes++
			}
		}
	}
	return bytes
}
