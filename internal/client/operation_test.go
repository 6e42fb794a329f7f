package client

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"net/http"
	"reflect"
	"testing"
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
		bounds, ok := effects[operation.effect]
		if !ok || bounds.maxBody <= 0 || bounds.maxBody > 1<<20 {
			t.Errorf("%s reads %d bytes; the limit is 1 MiB", example.op, bounds.maxBody)
		}
		if operation.effect.emails() != emailing[example.op] {
			t.Errorf("%s: the operation says emails=%v", example.op, operation.effect.emails())
		}
		if emailing[example.op] && (!operation.effect.mutates() || bounds.deadline == 0) {
			t.Errorf("%s may e-mail people: it has its own deadline", example.op)
		}
		if isRead := example.method == http.MethodGet; (operation.effect == effectNone) != isRead ||
			operation.effect.mutates() == isRead && example.op != OpToken {
			t.Errorf("%s: only what changes nothing is retried after any fault", example.op)
		}
	}
}

func TestRequestsAreAsDocumented(t *testing.T) {
	for _, example := range operationExamples() {
		t.Run(string(example.op), func(t *testing.T) {
			s := newService(t, answers(http.StatusOK, example.answer), false)
			s.references = answers(http.StatusOK, example.answer)
			c := s.client(t)
			if example.op == OpRetrieveReferences {
				s.references = nil
			}
			if err := example.run(t.Context(), c); err != nil {
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
			wantAccept := "application/json"
			if example.op == OpIndividualReport { // its format is not documented
				wantAccept = "application/pdf, application/json;q=0.9, */*;q=0.8"
			}
			accept, sent := got.header.Get("Accept"), got.header.Get("Content-Type")
			if accept != wantAccept || sent != contentType {
				t.Errorf("Accept %q, Content-Type %q; want %q and %q", accept, sent, wantAccept, contentType)
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
	person := NewIndividual{
		Title: Hide("Ms"), FirstName: Hide("Jane"), LastName: Hide("Doe"), DateOfBirth: Hide("1980-02-29"),
		Gender: Hide("female"),
	}
	noMiddleName := person
	noMiddleName.MiddleName = new(Hide(""))
	const whole = `"title":"Ms","first_name":"Jane","last_name":"Doe","date_of_birth":"1980-02-29","gender":"female"`
	for name, test := range map[string]struct {
		body any
		want string
	}{
		"application": {
			(&NewApplication{Name: Hide("Acme")}).body(),
			`{"name":"Acme","suppress_email_notification":false,"individuals":[]}`,
		},
		"individual": {
			(&NewApplication{
				Name: Hide("Acme"), SuppressEmailNotification: true, Individuals: []NewIndividual{person},
			}).body(),
			`{"name":"Acme","suppress_email_notification":true,"individuals":[{` + whole + `}]}`,
		},
		"middle name, which may be empty": { // interface: Individual
			noMiddleName.body(), `{` + whole + `,"middle_name":""}`,
		},
		"review":              {CheckReview{}.body(), `{}`},
		"review with comment": {CheckReview{Comment: Hide("fine")}.body(), `{"comment":"fine"}`},
	} {
		if got := string(encode(test.body)); !sameJSON(t, got, test.want) {
			t.Errorf("%s: sent %s, want %s", name, got, test.want)
		}
	}
}

func TestIdsAreChecked(t *testing.T) {
	s := newService(t, answers(http.StatusOK, "{}"), false)
	c := s.client(t)
	for _, id := range []int64{0, -1} {
		for name, request := range map[string]func(context.Context) error{
			"retrieve": func(ctx context.Context) error { return errorOf(c.RetrieveApplication(ctx, id)) },
			"delete":   func(ctx context.Context) error { return errorOf(c.DeleteApplication(ctx, id)) },
			"complete": func(ctx context.Context) error { return errorOf(c.CompleteApplication(ctx, id, inReview)) },
			"resend":   func(ctx context.Context) error { return errorOf(c.ResendInvites(ctx, id)) },
			"report":   func(ctx context.Context) error { return errorOf(c.IndividualReport(ctx, id, 1)) },
		} {
			t.Run(name, func(t *testing.T) { expectFailure(t, request(t.Context()), NotSent, KindInvalid) })
		}
	}
	s.expect(t, 0, 0)
}
