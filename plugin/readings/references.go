package readings

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// referenceData reads it, and looks at what becomes of an older token.
func (c *check) referenceData(ctx context.Context) {
	request := func() (*client.References, error) { return c.client.RetrieveReferences(ctx) }
	older, newest := c.client, c.newest
	references, a := read(ctx, c, request)
	first := append(a.all, client.Exchange{})[0]
	if a.err != nil && older != newest && ctx.Err() == nil {
		c.client = newest
		references, a = read(ctx, c, request)
	}
	if a.err != nil {
		c.notRead("references", a)
		return
	}
	c.result.References, c.references = references, a.json
	if pages, _ := wire.Parse(references.Raw); pages.IsList() && !a.json.IsList() {
		c.references = pages.List()[0]
	}
	switch html := kind(first) == "html"; {
	case older == newest, first.Status == http.StatusTooManyRequests, first.Status >= http.StatusInternalServerError:
		c.unknown("olderTokens", "one login does not show it")
	case first.Status/100 == 2 && !html:
		c.saw("olderTokens", "kept")
	default:
		c.saw("olderTokens", "revoked")
		instead := map[int]string{2: "html_200", 3: "redirect"}
		c.saw("tokenRefusal", cmp.Or(instead[first.Status/100], fmt.Sprint(first.Status)))
	}
	var codes []string
	for _, t := range references.MandateTypes {
		codes = append(codes, cmp.Or(t.Code, t.Name, fmt.Sprint(t.ID)))
	}
	if len(codes) == 0 {
		c.unknown("mandateTypes", "no mandate type was found in the reference data: the operator cannot select one by code "+
			"or name; use spec.mandateType.id, and ask the service's support for the id")
		return
	}
	c.found("mandateTypes", "found", "mandate types: %s", strings.Join(codes, ", "))
}

// sandboxNames makes the name of a read of the one in the sandbox's switch forbiddenOperation.
var sandboxNames = strings.NewReplacer("retrieve references", "references", "get ", "", " ", "_")

// permissions says what this user may not read, and how the service says so.
func (c *check) permissions() {
	c.saw("apiPermission", "granted")
	for _, a := range c.failed {
		switch {
		case !client.IsForbidden(a.err):
			continue
		case a.Operation == client.OpRetrieveApplication && (c.first != nil || len(c.options.Applications) == 0):
			c.saw("forbiddenObject", map[bool]string{true: "odd", false: "unknown"}[c.isFound("notFound", "404")])
		default:
			c.found("forbiddenOperation", sandboxNames.Replace(string(a.Operation)), "this user may not %s", a.Operation)
		}
		c.saw("forbiddenStatus", fmt.Sprint(a.Status))
		c.saw("forbiddenAnswer", kind(a.Exchange))
	}
}

// inWrap is a response without the object around every response of this service, if there is one.
func (c *check) inWrap(v wire.Value) wire.Value {
	if inner := v.Object().Get("data", "result", "item"); c.isFound("wrap", "data") && !inner.IsNull() {
		return inner
	}
	return v
}

// shape says how the mandate types are listed. The client reads all of these.
func (c *check) shape() {
	raw := c.inWrap(c.references).Raw()
	if c.isFound("ids", "string") {
		raw = strings.ReplaceAll(raw, `"id":"`, `"id":`) // as of every id
	}
	if c.result.References != nil {
		c.see("references", raw)
	}
}

// missing reads an application that does not exist, to see the form of an error.
func (c *check) missing(ctx context.Context) {
	_, a := read(ctx, c, func() (*client.Application, error) { return c.client.RetrieveApplication(ctx, client.NoSuchID) })
	const point = "notFound"
	switch {
	case a.Status == http.StatusNotFound:
		c.saw(point, "404")
	case client.IsForbidden(a.err):
		c.found(point, fmt.Sprint(a.Status), "an application that does not exist gets %d: the operator does not notice "+
			"what is gone", a.Status)
	default:
		c.unknown(point, "the id %d gets %d, which does not show how a missing application is answered: it may be too large "+
			"for the service", int64(client.NoSuchID), a.Status)
	}
	if a.Status < http.StatusBadRequest || c.isFound("ingress404", "applications") {
		return
	}
	c.saw("errorBody", kind(a.Exchange))
	if c.isFound("errorBody", "problem") || c.isFound("errorBody", "json") {
		c.see("errorShape", a.json.Raw())
	} else {
		c.unknown("errorShape", "errors are no problem details: refusals do not name fields and prove nothing, so that what "+
			"e-mails people ends as OutcomeUnknown instead of Refused")
	}
}

// methods asks with OPTIONS which methods complete and reject have, of an application that does not exist. No setting
// follows: Auto finds the method, and a gateway may name all of them.
func (c *check) methods(ctx context.Context) {
	for _, operation := range []client.Operation{client.OpCompleteApplication, client.OpRejectApplication} {
		point := map[bool]string{true: "completeMethod", false: "rejectMethod"}[operation == client.OpCompleteApplication]
		methods, a := send(ctx, c, func() ([]string, error) {
			return c.client.AllowedMethods(ctx, operation, client.NoSuchID)
		})
		switch len(methods) {
		case 0:
			c.unknown(point, "the service does not say (%d to OPTIONS); Auto tries PATCH, POST and PUT. If errors are no "+
				"problem details, it may need the setting", a.Status)
		case 1:
			c.found(point, methods[0], "the service says that the method is %s, which Auto finds", methods[0])
		default:
			c.unknown(point, "OPTIONS names %s, as a gateway does that knows no better; Auto finds the method",
				strings.Join(methods, ", "))
		}
		if point == "completeMethod" {
			c.see("wrongMethod", fmt.Sprintf("%d %v", a.Status, methods))
		}
	}
}
