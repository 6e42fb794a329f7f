package client

import (
	"context"
	"testing"
)

// operationExample is a request of an operation.
type operationExample struct {
	op           Operation
	method, path string
	body         string
	// answer is one that the operation is content with.
	answer string
	run    func(context.Context, *Client) error
}

const (
	someApplication = `{"id":4711,"name":"Acme","reference":"A-1","status":{"id":1,"status":"in review"}}`
	someIndividual  = `{"id":4711,"status":{"id":1,"status":"invited"}}`
)

func operationExamples() []operationExample {
	return []operationExample{
		{OpToken, "POST", "/ext/authentications/token", "grant_type=password&password=password&username=user",
			`{"access_token":"token","token_type":"bearer"}`,
			func(ctx context.Context, c *Client) error { return errorOf(c.AccessToken(ctx)) }},
		{OpCreateApplication, "POST", "/ext/applications",
			`{"name":"Acme","reference":"A-1","mandate_type":3,"suppress_email_notification":false,` +
				`"individuals":[{"email":"jane@example.com","reference":"A-1.jane"}]}`, someApplication,
			func(ctx context.Context, c *Client) error {
				return errorOf(c.CreateApplication(ctx, someNewApplication()))
			}},
		{OpRetrieveApplication, "GET", "/ext/applications/4711", "", someApplication,
			func(ctx context.Context, c *Client) error { return errorOf(c.RetrieveApplication(ctx, 4711)) }},
		{OpDeleteApplication, "DELETE", "/ext/applications/4711", "", "",
			func(ctx context.Context, c *Client) error { return errorOf(c.DeleteApplication(ctx, 4711)) }},
		{OpArchiveApplication, "PATCH", "/ext/applications/4711/archive", "{}", someApplication,
			func(ctx context.Context, c *Client) error { return errorOf(c.ArchiveApplication(ctx, 4711)) }},
		{OpCompleteApplication, "PATCH", "/ext/applications/4711/complete", "{}", "",
			func(ctx context.Context, c *Client) error { return errorOf(c.CompleteApplication(ctx, 4711, inReview)) }},
		{OpRejectApplication, "PATCH", "/ext/applications/4711/reject", "{}", "",
			func(ctx context.Context, c *Client) error { return errorOf(c.RejectApplication(ctx, 4711, inReview)) }},
		{OpAcceptCheck, "PATCH", "/check/4711/accept", `{"comment":"fine","comment_for":"IndividualCheck","reference":12}`,
			`{"message":"accepted"}`,
			func(ctx context.Context, c *Client) error { return errorOf(c.AcceptCheck(ctx, 4711, someReview())) }},
		{OpRejectCheck, "PATCH", "/check/4711/reject", `{"comment":"fine","comment_for":"IndividualCheck","reference":12}`,
			`{"message":"rejected"}`,
			func(ctx context.Context, c *Client) error { return errorOf(c.RejectCheck(ctx, 4711, someReview())) }},
		{OpRetrieveIndividual, "GET", "/ext/individuals/4711", "", someIndividual,
			func(ctx context.Context, c *Client) error { return errorOf(c.RetrieveIndividual(ctx, 4711)) }},
		{OpResendInvites, "POST", "/ext/individuals/4711/invites/resend", "{}", "",
			func(ctx context.Context, c *Client) error { return errorOf(c.ResendInvites(ctx, 4711)) }},
		{OpResetIndividual, "POST", "/ext/individuals/4711/reset", "{}", "",
			func(ctx context.Context, c *Client) error { return errorOf(c.ResetIndividual(ctx, 4711)) }},
		{OpIndividualReport, "GET", "/ext/individuals/4711/report", "", `{"report":"JVBERi0="}`,
			func(ctx context.Context, c *Client) error {
				return errorOf(c.IndividualReport(ctx, 4711, 1<<17))
			}},
		{OpRetrieveReferences, "GET", "/ext/references", "", `{}`,
			func(ctx context.Context, c *Client) error { return errorOf(c.RetrieveReferences(ctx)) }},
		{OpSubscribeWebhook, "POST", "/ext/webhooks/subscribe",
			`{"application_id":4711,"events":["completed"],"url":"https://hooks.example.com"}`, "",
			func(ctx context.Context, c *Client) error {
				return errorOf(c.SubscribeWebhook(ctx, someSubscription()))
			}},
		{OpRetrieveWebhook, "GET", "/ext/webhooks/retrieve/4711", "", "[]",
			func(ctx context.Context, c *Client) error { return errorOf(c.RetrieveWebhook(ctx, 4711)) }},
	}
}

// errorOf drops the result of an operation.
func errorOf[T any](_ T, err error) error { return err }

func someNewApplication() NewApplication {
	return NewApplication{Name: Hide("Acme"), Reference: "A-1", MandateTypeID: 3,
		Individuals: []NewIndividual{{Email: Hide("jane@example.com"), Reference: Hide("A-1.jane")}}}
}

func someReview() CheckReview {
	return CheckReview{Comment: Hide("fine"), CommentFor: "IndividualCheck", Reference: 12}
}

func someSubscription() Subscription {
	return Subscription{URL: Hide("https://hooks.example.com"), Events: []string{"completed"}, ApplicationID: 4711}
}

// exampleOf gives the example of one operation.
func exampleOf(t *testing.T, op Operation) operationExample {
	t.Helper()
	for _, example := range operationExamples() {
		if example.op == op {
			return example
		}
	}
	t.Fatalf("no example of %q; add it to operationExamples", op)
	return operationExample{}
}

// emailing are the operations that e-mail people or may do so, as the interface says, whatever the table says: a
// rejected check "may trigger follow-up actions or notifications", and nothing says that other decisions do not.
var emailing = map[Operation]bool{
	OpCreateApplication: true, OpResendInvites: true, OpResetIndividual: true, OpArchiveApplication: true,
	OpCompleteApplication: true, OpRejectApplication: true, OpAcceptCheck: true, OpRejectCheck: true,
}

// inReview is the state of someApplication.
var inReview = State{ID: 1, Name: "in review"}
