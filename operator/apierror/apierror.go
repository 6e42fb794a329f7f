// Package apierror makes errors of the API server fit to be logged.
package apierror

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Redact is an error of the API server without its text: an admission webhook that refuses a write may quote any part
// of it, a downloaded report for one, and errors are logged. It says what happened to which object and names fields.
// Other errors stay as they are.
func Redact(err error) error {
	var answered apierrors.APIStatus
	if !errors.As(err, &answered) {
		return err
	}
	status := answered.Status()
	details := status.Details
	if details == nil {
		details = &metav1.StatusDetails{}
	}
	fields := make([]string, 0, len(details.Causes))
	for _, cause := range details.Causes {
		fields = append(fields, cause.Field)
	}
	return fmt.Errorf("the API server answered %d %s about %s %q, fields %q",
		status.Code, status.Reason, details.Kind, details.Name, fields)
}
