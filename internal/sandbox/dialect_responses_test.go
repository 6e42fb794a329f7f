package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

var responseCases = cases{
	"idSize=usual":         wantIDSize(0, 1<<32),
	"idSize=above_40_bits": wantIDSize(1<<40, 1<<53),
	"idSize=above_53_bits": wantIDSize(1<<53, 1<<62),
	"idSize=from_one":      wantIDSize(0, 3),

	"successStatus=documented": wantSuccess(200, 204, true),
	"successStatus=200":        wantSuccess(200, 200, true),
	"successStatus=201":        wantSuccess(201, 201, true),
	"successStatus=202":        wantSuccess(202, 202, true),
	"successStatus=204":        wantSuccess(204, 204, false),
	"successBody=documented":   wantSuccess(200, 204, true),
	"successBody=empty":        wantSuccess(200, 204, false),

	"titleGenderCase=kept":  wantTitleGender("mR", "mALE"),
	"titleGenderCase=lower": wantTitleGender("mr", "male"),
	"titleGenderCase=upper": wantTitleGender("MR", "MALE"),
	"titleGenderCase=title": wantTitleGender("Mr", "Male"),

	"contentType=with_body": wantContentType(200, 204),
	"contentType=always":    wantContentType(400, 400),

	"wrongMethod=405":               wantWrongMethod(405, "PATCH"),
	"wrongMethod=405_without_allow": wantWrongMethod(405, ""),
	"wrongMethod=405_allow_all":     wantWrongMethod(405, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
	"wrongMethod=404":               wantWrongMethod(404, ""),

	"trailingSlash=not_used":     wantTrailingSlash(200, 404),
	"trailingSlash=redirect_301": wantTrailingSlash(301, 200),
	"trailingSlash=redirect_308": wantTrailingSlash(308, 200),
}

func wantTrailingSlash(without, with int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		if s.token == "" { // the fixture uses paths as documented
			noError(t, s.ResetDialects(t.Context()))
			s.token = s.login()
			noError(t, s.SetDialect(t.Context(), "trailingSlash", fmt.Sprint("redirect_", without)))
		}
		got := s.request("GET", "/ext/references?page=2", nil)
		wantEqual(t, "without a slash", without, got.status)
		if without != http.StatusOK {
			wantEqual(t, "Location", "/api/v1/ext/references/?page=2", got.header.Get("Location"))
		}
		wantEqual(t, "with a slash", with, s.request("GET", "/ext/references/", nil).status)
	}
}

// A gateway answers OPTIONS itself.
func TestOptionsOfAGateway(t *testing.T) {
	s := withDialect(t, "wrongMethod", "405_allow_all")
	got := s.request(http.MethodOptions, "/ext/applications/1/complete", nil)
	wantEqual(t, "response", "204 true", fmt.Sprint(got.status, " ", strings.Contains(got.header.Get("Allow"), "PUT")))
}

// wantContentType sends what has no body without saying of what type it is, and then with.
func wantContentType(get, deletion int) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		for method, status := range map[string]int{http.MethodGet: get, http.MethodDelete: deletion} {
			path := s.create(mandate(method, method))
			request, err := http.NewRequestWithContext(t.Context(), method, s.url+"/api/v1"+path, http.NoBody)
			noError(t, err)
			request.Header.Set("Authorization", "Bearer "+s.token)
			got, err := send(request)
			noError(t, err)
			wantEqual(t, method+" without", status, got.status)
			if status == http.StatusBadRequest {
				s.must(method, path, nil)
			}
		}
	}
}

func wantIDSize(above, below int64) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		id := mustID(t, s, s.create(mandate("acme", "jane")))
		person := s.play(control.Play{ApplicationID: id}).Individuals[0].ID
		for what, got := range map[string]int64{"application": id, "individual": person} {
			if got <= above || got >= below {
				t.Errorf("the id of the %s is %d", what, got)
			}
		}
		noError(t, s.SetDialect(t.Context(), "idSize", "above_40_bits"))
		if other := mustID(t, s, s.create(mandate("other", "joe"))); other == id {
			t.Errorf("id %d was given twice", id)
		}
		applications, err := s.Applications(t.Context())
		noError(t, err)
		wantEqual(t, "the older one comes first", "acme", applications[0].Reference)
	}
}

func wantSuccess(status, deletion int, body bool) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		archived := s.must(http.MethodPatch, path+"/archive", object{})
		wantEqual(t, "status code of archive", status, archived.status)
		wantEqual(t, "body of archive", body, len(archived.body) > 0)
		decided := s.must(http.MethodPatch, s.check(path)+"/accept", object{})
		wantEqual(t, "status code of a decision", status, decided.status)
		wantEqual(t, "body of a decision", body, len(decided.body) > 0)
		wantEqual(t, "archived", any(true), s.must("GET", path, nil).at("archived"))
		deleted := s.must(http.MethodDelete, path, nil)
		wantEqual(t, "status code of delete", deletion, deleted.status)
		wantEqual(t, "body of delete", body && deletion != 204, len(deleted.body) > 0)
	}
}

func wantTitleGender(title, gender string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(changed(object{"individuals": []object{{"title": "mR", "gender": "mALE"}, {}}}))
		got := s.must("GET", path, nil)
		wantEqual(t, "title", any(title), got.at("individuals", 0, "title"))
		wantEqual(t, "gender", any(gender), got.at("individuals", 0, "gender"))
		wantEqual(t, "of nobody", any(""), got.at("individuals", 1, "title"))
	}
}

func wantWrongMethod(status int, allow string) func(*testing.T, *testService) {
	return func(t *testing.T, s *testService) {
		t.Helper()
		path := s.create(mandate("acme", "jane"))
		s.play(control.Play{Reference: "acme"})
		got := s.request(http.MethodPut, path+"/complete", object{})
		wantProblem(t, got, status)
		wantEqual(t, "Allow", allow, got.header.Get("Allow"))
		wantEqual(t, "state", any("in review"), statusName(s.must("GET", path, nil)))
		token := s.token
		s.token = "not-a-token"
		got = s.request(http.MethodPut, path+"/complete", object{})
		wantEqual(t, "without a token", "401 ", fmt.Sprint(got.status, " ", got.header.Get("Allow")))
		s.token = token
	}
}
