package apierror

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/internal/tolerant"
)

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
	var unreadable *UnreadableError
	return errors.As(err, &unreadable)
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
