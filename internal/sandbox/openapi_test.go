package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The module openapitest holds the documents against answers. They follow the dialect of the account.
func TestDocuments(t *testing.T) {
	s := open(t, "accounts: [{}, {name: b, username: b, password: b, dialect: {completeMethod: POST}}]")
	for account, method := range map[string]string{"": "patch", "default": "patch", "b": "post"} {
		paths := members(s.get("/openapi.json?account="+account, "").at("paths"))
		complete := members(paths["/ext/applications/{id}/complete"])
		if _, described := complete[method]; !described || len(complete) != 1 {
			t.Errorf("account %q: complete has %v", account, complete)
		}
		operations := 0
		for _, methods := range paths {
			operations += len(members(methods))
		}
		wantEqual(t, "operations", len(control.Operations()), operations)
	}
	wantEqual(t, "an unknown account", http.StatusNotFound, s.get("/openapi.json?account=c", "").status)
	wantEqual(t, "version", any("3.1.0"), s.get(control.Prefix+"/openapi.json", "").at("openapi"))
}
