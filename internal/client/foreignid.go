package client

import "context"

type foreignIDKey struct{}

// WithForeignID is for an operation with an id that somebody else has named, and that may be of nothing. It may fail
// because of the id and not of the service, so one call is one request, and OperationResult.ForeignID tells an observer.
func WithForeignID(ctx context.Context) context.Context {
	return context.WithValue(ctx, foreignIDKey{}, true)
}

func hasForeignID(ctx context.Context) bool { return ctx.Value(foreignIDKey{}) != nil }
