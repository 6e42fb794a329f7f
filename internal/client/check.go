package client

import (
	"context"
	"encoding/json"
)

// Check of an individual (interface: Check).
type Check struct {
	ID          int64 // 0 if the service gave none, or several
	Name, Title string
	State       State
}

// CheckReview is what AcceptCheck and RejectCheck send (interface: Accept check and Reject check). Empty fields are
// left out.
type CheckReview struct {
	Comment    Secret // the reason
	CommentFor string // the context of the comment, such as "IndividualCheck"
	// Reference is the "unique reference id of the check". Whether that is the check's id is not documented. 0 leaves it
	// out.
	Reference int64
}

// CheckReviewResponse is the response to a review of a check (interface: Accept check and Reject check).
type CheckReviewResponse struct {
	Message Secret                     // "" if the response holds none
	Raw     Sensitive[json.RawMessage] // empty if the response is empty or not JSON
}

// AcceptCheck accepts a check: PATCH /check/{check_id}/accept. Its state becomes manually_accepted. From which states
// that is possible, and whether twice, is not documented: read the state first. Any 2xx is success.
// Errors: Refused (KindInvalid, KindNotFound, KindConflict, ...): nothing was changed. Unknown: read the state.
func (c *Client) AcceptCheck(ctx context.Context, checkID int64, review CheckReview) (*CheckReviewResponse, error) {
	return c.reviewCheck(ctx, OpAcceptCheck, checkID, review)
}

// RejectCheck rejects a check: PATCH /check/{check_id}/reject. Its state becomes manually_rejected; the service
// may ask for more or notify people then. Otherwise as AcceptCheck.
func (c *Client) RejectCheck(ctx context.Context, checkID int64, review CheckReview) (*CheckReviewResponse, error) {
	return c.reviewCheck(ctx, OpRejectCheck, checkID, review)
}

func (c *Client) reviewCheck(
	ctx context.Context, op Operation, checkID int64, review CheckReview,
) (*CheckReviewResponse, error) {
	response, err := c.do(ctx, request{op: op, id: checkID, body: review.encode()})
	if err != nil {
		return nil, err
	}
	result := &CheckReviewResponse{Raw: response.raw()}
	if o, err := response.object(); err == nil {
		result.Message = Hide(o.text("message"))
	}
	return result, nil
}

func (r CheckReview) encode() []byte {
	return encode(struct {
		Comment    string `json:"comment,omitempty"`
		CommentFor string `json:"comment_for,omitempty"`
		Reference  int64  `json:"reference,omitempty"`
	}{r.Comment.Reveal(), r.CommentFor, r.Reference})
}

func (d *decoder) check(o object) Check {
	return Check{
		ID: o.id("id"), Name: d.text(o, "name"), Title: d.text(o, "title"), State: d.state(o.get("status", "state")),
	}
}
