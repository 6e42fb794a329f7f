// Package apierror makes errors of the API server fit to be logged, and finds objects that Go cannot decode.
package apierror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/tolerant"
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

// Cause says why the API server did not do what it was asked for, in a fixed text for people without access to the
// operator's log.
func Cause(err error) string {
	var answered apierrors.APIStatus
	switch {
	case IsUnreadable(err):
		return "it has fields that cannot be decoded"
	case !errors.As(err, &answered):
		return "the API server did not answer"
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return "a ResourceQuota of the namespace is used up"
	default:
		code := int(answered.Status().Code)
		return strings.TrimRight(fmt.Sprintf("the API server answered %d %s", code, http.StatusText(code)), " ")
	}
}

// IsRefusal reports whether the API server, or a policy, refuses a write, and not because of a conflict or its load.
func IsRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) ||
		apierrors.IsRequestEntityTooLargeError(err)
}

// MissingNamespace is the namespace whose absence an error of a write is about; "" if it is about something else.
func MissingNamespace(err error) string {
	var answered apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &answered) {
		return ""
	}
	if details := answered.Status().Details; details != nil && details.Kind == "namespaces" {
		return details.Name
	}
	return ""
}

// UnreadableError is the error of reading an object with fields that cannot be decoded. It names the fields, and no
// values.
type UnreadableError struct {
	Object string // type and name
	Fields []string
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("reading the %s: fields that cannot be decoded: %q", e.Object, e.Fields)
}

// IsUnreadable reports whether an object was not decoded completely.
func IsUnreadable(err error) bool {
	_, unreadable := errors.AsType[*UnreadableError](err)
	return unreadable
}

// CompleteReader fails with an UnreadableError rather than return an object without some of its fields. What it lists
// has such objects too: each of them must not keep the others from being seen.
type CompleteReader struct{ client.Reader }

// Get reads an object.
func (r CompleteReader) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if err := r.Reader.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if fields := tolerant.UnreadableFields(object); len(fields) > 0 {
		return &UnreadableError{Object: fmt.Sprintf("%T %s", object, key), Fields: fields}
	}
	return nil
}
