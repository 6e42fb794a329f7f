package mandate

// FoundBy is how the application of a create without a clear answer became known.
type FoundBy string

// The ways. A create that is sent again with the same reference shows that the one before it created nothing.
const (
	FoundByRepeat       FoundBy = "repeat"
	FoundByNotification FoundBy = "notification"
	FoundByAdoption     FoundBy = "adoption"
)

// observeFound tells that the outcome of an earlier create, which was unknown, is known.
func (r *reconciliation) observeFound(by FoundBy) {
	if r.found != nil {
		r.found(by)
	}
}
