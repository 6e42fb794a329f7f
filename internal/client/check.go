package client

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mandate-io/idv/internal/client/wire"
)

// Check of an individual (interface: Check).
type Check struct {
	ID          int64 // 0 if the service gave none, or several
	Name, Title string
	State       State
	// FailedFields are the names of the fields that failed (interface: Check, individual_checkfield_result), or their
	// numbers as the interface shows them.
	FailedFields []string
	Results      Secret // of all fields, one per line and sorted. They are personal data: only compare them
}

// CheckReview is what AcceptCheck and RejectCheck send (interface: Accept check, Reject check), without empty fields.
type CheckReview struct {
	Comment    Secret // the reason
	CommentFor string // the context of the comment, such as "IndividualCheck"
	// Reference is the "unique reference id of the check". Whether that is the check's id is not documented.
	Reference int64
}

// AcceptCheck accepts a check: PATCH /check/{check_id}/accept. Its state becomes manually_accepted. From which states
// that is possible, and whether twice, is not documented: read the state first. It sends one request.
// Errors: Refused, Forbidden: nothing was changed. Unknown: read the state.
func (c *Client) AcceptCheck(ctx context.Context, checkID int64, review CheckReview) (*Change, error) {
	return c.change(ctx, newRequest(OpAcceptCheck, checkID).sending(review.body()))
}

// RejectCheck rejects a check: PATCH /check/{check_id}/reject. Its state becomes manually_rejected; the service
// may ask for more or notify people then. Otherwise as AcceptCheck.
func (c *Client) RejectCheck(ctx context.Context, checkID int64, review CheckReview) (*Change, error) {
	return c.change(ctx, newRequest(OpRejectCheck, checkID).sending(review.body()))
}

func (r CheckReview) body() map[string]any {
	return withoutEmpty(map[string]any{
		"comment": r.Comment.Reveal(), "comment_for": r.CommentFor, "reference": r.Reference,
	})
}

// failedResult matches the folded words with which a result says that the field failed. Not documented: our reading.
// What it does not match may be the value that a person has given.
var failedResult = regexp.MustCompile(`^(fail|reject|mismatch|nomatch|notmatch|invalid|denied|declin)`)

func parseCheck(o wire.Object) Check {
	check := Check{ID: o.ID("id"), Name: o.Text("name"), Title: o.Text("title")}
	var results []string
	for _, result := range o.Get("individual_checkfield_result").Objects() {
		// check_field is documented as a number; an object or a name is our reading.
		field, value := result.Get("check_field", "field"), result.Get("result")
		name := cmp.Or(field.Text(), field.Object().Text("name", "code", "title", "id"), fmt.Sprint(result.ID("id")))
		if value.Raw() == "false" || failedResult.MatchString(wire.FoldName(value.Text())) {
			check.FailedFields = append(check.FailedFields, name)
		}
		results = append(results, name+" "+value.Raw()+" "+result.Get("status").Raw())
	}
	slices.Sort(results)
	check.State, check.Results = parseState(o.Get("status", "state")), Hide(strings.Join(results, "\n"))
	return check
}
