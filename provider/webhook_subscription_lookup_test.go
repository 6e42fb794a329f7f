package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/test/webhookservice"
	"github.com/mandate-io/idv/provider/webhookcache"
)

// The response of retrieve webhook is not documented. Only a proof counts as absent: a wrong conclusion ends in a
// second subscription.
func TestLookup(t *testing.T) {
	const nextPage = `"count": 25, "next": "https://idv.example.com/?page=2"`
	const own, other = `{"id": 7, "url": "` + receiverURL + `"}`, `{"id": 8, "url": "https://other.example.com"}`
	cases := map[string]struct {
		code    int
		body    string
		answer  *answer
		matches int
	}{
		"an object":                    {200, own, &answerContainsIt, 1},
		"a wrapped object":             {200, `{"data": ` + own + `}`, &answerContainsIt, 1},
		"a list":                       {200, `[` + other + `, ` + own + `]`, &answerContainsIt, 1},
		"a list with two":              {200, `[` + own + `, ` + own + `]`, &answerContainsIt, 2},
		"a wrapped list":               {200, `{"webhooks": [` + own + `]}`, &answerContainsIt, 1},
		"under another name":           {200, `{"hook": {"target_url": "` + receiverURL + `"}}`, &answerContainsIt, 1},
		"under the configured name":    {200, `{"where_to": "` + receiverURL + `"}`, &answerContainsIt, 1},
		"a page that contains it":      {200, `{` + nextPage + `, "results": [` + own + `]}`, &answerContainsIt, 1},
		"written otherwise":            {200, `[{"url": "HTTPS://Hooks.Example.com:443/idv"}]`, &answerContainsIt, 1},
		"404":                          {404, `{"title": "not found"}`, &answerProblem, 0},
		"410":                          {410, `{"title": "gone", "status": "410"}`, &answerProblem, 0},
		"an empty 410":                 {410, ``, &answerForeignNotFound, 0},
		"404 of a gateway":             {404, `{"message": "no route matched"}`, &answerForeignNotFound, 0},
		"404 in HTML":                  {404, `<html>`, &answerForeignNotFound, 0},
		"204":                          {204, ``, &answerEmpty, 0},
		"an empty answer":              {200, ``, &answerEmpty, 0},
		"an empty object":              {200, `{}`, &answerEmpty, 0},
		"an empty wrapped object":      {200, `{"data": {}}`, &answerEmpty, 0},
		"null":                         {200, `null`, &answerEmpty, 0},
		"an empty list":                {200, `[]`, &answerListWithoutIt, 0},
		"an empty wrapped list":        {200, `{"data": {"items": []}, "total": 0}`, &answerListWithoutIt, 0},
		"a list of others":             {200, `[` + other + `]`, &answerListWithoutIt, 0},
		"a page of others":             {200, `{` + nextPage + `, "results": [` + other + `]}`, &answerPartOfList, 0},
		"an empty page":                {200, `{` + nextPage + `, "results": []}`, &answerPartOfList, 0},
		"a list with a masked URL":     {200, `[` + other + `, {"id": 7, "url": null}]`, &answerPartOfList, 0},
		"another one: perhaps of many": {200, other, &answerOther, 0},
		"a webhook that shows no URL":  {200, `{"id": 7, "events": []}`, &answerUnclear, 0},
		"a message":                    {200, `{"message": "no webhook"}`, &answerUnclear, 0},
		"HTML":                         {200, `<html>`, &answerNotJSON, 0},
		"a redirect":                   {302, ``, &answerRedirect, 0},
		"502":                          {502, `<html>`, &answerFailure, 0},
	}
	for name, test := range cases {
		for _, purpose := range []lookupPurpose{forCreate, forRefresh, forImport} {
			t.Run(name, func(t *testing.T) {
				m := model(func(m *subscriptionModel) { m.fieldNames = map[string]string{"url": "where_to"} })
				service := webhookservice.New(t, test.code, test.body)
				result, err := m.lookup(t.Context(), purpose, newWebhookCache(service, "where_to").Get)
				wantError := test.answer == &answerFailure || purpose == forCreate && test.answer.foreign
				if (err != nil) != wantError {
					t.Fatalf("want an error: %v, got %v", wantError, err)
				}
				if result.answer != test.answer || len(result.matches) != test.matches {
					t.Errorf("got %q with %d matches, want %q with %d",
						result.answer.description, len(result.matches), test.answer.description, test.matches)
				}
				if status := test.answer.proves[purpose]; result.status != status ||
					(result.reason == "") != (status != lookupUnknown) {
					t.Errorf("got %v with the reason %q", result.status, result.reason)
				}
			})
		}
	}
	t.Run("a failing service is an error", func(t *testing.T) {
		m := model(nil)
		_, err := m.lookup(t.Context(), forCreate, newWebhookCache(webhookservice.New(t, 403, ""), "url").Get)
		if client.KindOf(err) != client.KindForbidden {
			t.Errorf("got %v", err)
		}
	})
	t.Run("without an application there is no request", func(t *testing.T) {
		m := model(func(m *subscriptionModel) { m.ApplicationID = types.Int64Null() })
		if result, err := m.lookup(t.Context(), forCreate, nil); err != nil || result.status != lookupUnknown {
			t.Errorf("got %v, %v", result.status, err)
		}
	})
}

func newWebhookCache(service *client.Client, urlField string) *webhookcache.Cache {
	return &webhookcache.Cache{Service: service, ApplicationID: webhookservice.ApplicationID, URLField: urlField}
}
