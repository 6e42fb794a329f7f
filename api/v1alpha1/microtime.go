package v1alpha1

import (
	"encoding/json"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MicroTime is a time in RFC 3339 that is written to the microsecond and read with any fraction of a second. That of
// Kubernetes reads six digits and no others, and tools that restore a backup may write fewer.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=date-time
type MicroTime struct {
	metav1.MicroTime `json:"-"`
}

// NewMicroTime gives a time in the precision in which it is written.
func NewMicroTime(t time.Time) MicroTime {
	return MicroTime{metav1.NewMicroTime(t.Truncate(time.Microsecond))}
}

// UnmarshalJSON decodes a time, or null. Its error does not quote the value.
func (t *MicroTime) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New("a time must be a string")
	}
	if text == nil {
		*t = MicroTime{}
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, *text)
	if err != nil {
		return errors.New("a time must be in RFC 3339, such as 2026-12-31T00:00:00.000000Z")
	}
	*t = NewMicroTime(parsed.Local())
	return nil
}
