package client

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// declaredOperations reads the constants from the source: a list of them here could be forgotten like the operation
// itself.
func declaredOperations(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(gotoken.NewFileSet(), "operation.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != gotoken.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			if kind, ok := constant.Type.(*ast.Ident); ok && kind.Name == "Operation" {
				names = append(names, constant.Values[0].(*ast.BasicLit).Value)
			}
		}
	}
	return names
}

func TestEveryOperationIsSpecified(t *testing.T) {
	const documented = 16 // interface: Endpoints, Summary
	declared := declaredOperations(t)
	if len(declared) != documented || len(operations) != documented || len(operationExamples()) != documented {
		t.Errorf("%d operations are declared, %d are in the table, %d have an example; the interface documents %d",
			len(declared), len(operations), len(operationExamples()), documented)
	}
	for _, example := range operationExamples() {
		operation, ok := operations[example.op]
		if !ok {
			t.Errorf("%s is not in the table", example.op)
			continue
		}
		if operation.maxBody <= 0 || operation.maxBody > 1<<20 {
			t.Errorf("%s reads %d bytes; the limit is 1 MiB", example.op, operation.maxBody)
		}
		if operation.emailsPeople != emailing[example.op] {
			t.Errorf("%s: the operation says emails=%v", example.op, operation.emailsPeople)
		}
		if operation.emailsPeople && (operation.retry != retryNever || !operation.mutates || operation.deadline == 0) {
			t.Errorf("%s e-mails people: it is sent once, with its own deadline", example.op)
		}
		if safe := example.method == http.MethodGet; (operation.retry == retrySafe) != safe || operation.mutates == safe &&
			example.op != OpToken {
			t.Errorf("%s: only what changes nothing is retried after any fault", example.op)
		}
	}
}

func TestRequestsAreAsDocumented(t *testing.T) {
	for _, example := range operationExamples() {
		t.Run(string(example.op), func(t *testing.T) {
			s := newService(t, answers(http.StatusOK, example.answer), false)
			if err := example.run(t.Context(), s.client(t)); err != nil {
				t.Fatal(err)
			}
			requests, logins := s.seen()
			contentType := "application/json"
			if example.op == OpToken {
				requests, contentType = logins, "application/x-www-form-urlencoded"
			} else if got := requests[0].header.Get("Authorization"); got != "Bearer token" {
				t.Errorf("Authorization is %q", got)
			}
			if len(requests) != 1 {
				t.Fatalf("%d requests, want one", len(requests))
			}
			got := requests[0]
			if got.method != example.method || got.path != apiPrefix+example.path {
				t.Errorf("sent %s %s, want %s %s", got.method, got.path, example.method, apiPrefix+example.path)
			}
			if example.op == OpToken && got.body != example.body ||
				example.op != OpToken && !sameJSON(t, got.body, example.body) {
				t.Errorf("body is %s, want %s", got.body, example.body)
			}
			accept, sent := got.header.Get("Accept"), got.header.Get("Content-Type")
			if accept != "application/json" || sent != contentType {
				t.Errorf("Accept %q, Content-Type %q; want application/json and %q", accept, sent, contentType)
			}
			if got.header.Get("Idempotency-Key") != "" {
				t.Error("an Idempotency-Key makes net/http send a POST again")
			}
		})
	}
}

func sameJSON(t *testing.T, got, want string) bool {
	t.Helper()
	if got == "" || want == "" {
		return got == want
	}
	var g, w any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(g, w)
}

func TestEmptyFieldsAreLeftOut(t *testing.T) {
	for name, test := range map[string]struct {
		body []byte
		want string
	}{
		"application": {
			NewApplication{Name: Hide("Acme")}.encode(),
			`{"name":"Acme","suppress_email_notification":false,"individuals":[]}`,
		},
		"individual": {
			NewApplication{
				Name: Hide("Acme"), SuppressEmailNotification: true,
				Individuals: []NewIndividual{{
					Title: Hide("Ms"), FirstName: Hide("Jane"), LastName: Hide("Doe"),
					DateOfBirth: Hide("1980-02-29"), Gender: Hide("female"),
				}},
			}.encode(),
			`{"name":"Acme","suppress_email_notification":true,"individuals":[{` +
				`"title":"Ms","first_name":"Jane","last_name":"Doe","date_of_birth":"1980-02-29","gender":"female"}]}`,
		},
		"review": {CheckReview{}.encode(), `{}`},
	} {
		if diff := cmp.Diff(test.want, string(test.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnyTwoHundredIsSuccess(t *testing.T) {
	openAnswers := []Operation{
		OpDeleteApplication, OpArchiveApplication, OpCompleteApplication, OpRejectApplication,
		OpAcceptCheck, OpRejectCheck, OpResendInvites, OpResetIndividual, OpSubscribeWebhook,
	}
	for _, op := range openAnswers {
		for _, status := range []int{200, 201, 202, 204, 206, 299} {
			for _, body := range []string{
				"", "{}", "null", `"done"`, `{"message":"done"}`, "<html>done</html>", `[1]`, someApplication,
			} {
				if status == http.StatusNoContent && body != "" {
					continue
				}
				s := newService(t, answers(status, body), false)
				if err := exampleOf(t, op).run(t.Context(), s.client(t)); err != nil {
					t.Errorf("%s, %d %s: %v", op, status, body, err)
				}
				s.Close()
			}
		}
	}
}

func TestIdsAreChecked(t *testing.T) {
	s := newService(t, answers(http.StatusOK, "{}"), false)
	c := s.client(t)
	for _, id := range []int64{0, -1} {
		for name, request := range map[string]func(context.Context) error{
			"retrieve": func(ctx context.Context) error { return errorOf(c.RetrieveApplication(ctx, id)) },
			"delete":   func(ctx context.Context) error { return c.DeleteApplication(ctx, id) },
			"complete": func(ctx context.Context) error { return errorOf(c.CompleteApplication(ctx, id)) },
			"resend":   func(ctx context.Context) error { return c.ResendInvites(ctx, id) },
			"report":   func(ctx context.Context) error { return errorOf(c.IndividualReport(ctx, id, io.Discard, 1)) },
		} {
			t.Run(name, func(t *testing.T) { expectFailure(t, request(t.Context()), NotSent, KindInvalid) })
		}
	}
	s.expect(t, 0, 0)
}
