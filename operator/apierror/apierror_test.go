package apierror_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/mandate-io/idv/operator/apierror"
)

// What a webhook says, or the value that it refuses, is not repeated; what happened to which object is.
func TestBare(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	kind := schema.GroupKind{Kind: "Secret"}
	invalid := apierrors.NewInvalid(
		kind,
		"jane-report",
		field.ErrorList{field.Invalid(field.NewPath("data", "report"), "canary", "canary")},
	)
	for name, err := range map[string]error{
		"denied":  fmt.Errorf("creating: %w", apierrors.NewForbidden(secrets, "jane-report", errors.New("canary"))),
		"invalid": invalid,
	} {
		got := apierror.Redact(err).Error()
		if strings.Contains(got, "canary") || !strings.Contains(got, "jane-report") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := apierror.Redact(invalid).Error(); !strings.Contains(got, "data.report") {
		t.Errorf("the field is not named: %s", got)
	}
	other := errors.New("no route to host")
	if got := apierror.Redact(other); !errors.Is(got, other) {
		t.Errorf("another error became %v", got)
	}
	if got := apierror.Redact(nil); got != nil {
		t.Errorf("no error became %v", got)
	}
}
