package readings

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

const referencesPath = "/ext/references"

// references looks at the reference data, and with it whether the user may use the API.
func (c *check) references(ctx context.Context) error {
	response, err := c.get(ctx, referencesPath, c.token)
	switch {
	case err != nil:
		return err
	case response.status == http.StatusUnauthorized || response.status == http.StatusForbidden:
		c.found("apiPermission", fmt.Sprint(response.status), "the login works, and requests get %d", response.status)
		return fmt.Errorf("the user has no API permission: the login works, but requests get %d; ask the operator of the "+
			"service for it", response.status)
	case !response.ok():
		return fmt.Errorf("the reference data cannot be read: HTTP status %d; check the base URL", response.status)
	}
	c.found("apiPermission", "granted", "the user may use the API")
	c.collectNames(response)
	v := parse(response.body)
	inner, wrapper := v.unwrap("data", "result")
	if wrapper != "" {
		c.found("references", "data", "the reference data is wrapped in %q", wrapper)
	} else {
		c.shape(inner)
	}
	c.referenceIDs(inner)
	return nil
}

// shape says how the mandate types are listed. The client reads all of these.
func (c *check) shape(v value) {
	if _, isList := v.list(); isList {
		c.found("references", "flat", "the reference data is one list, whose entries name their type")
		return
	}
	for name, member := range v.object() {
		folded := client.FoldName(name)
		if !strings.Contains(folded, "mandate") && !strings.Contains(folded, "application") {
			continue
		}
		_, isList := value{member}.list()
		switch {
		case !isList:
			c.found("references", "map", "%q is a map", name)
		case folded == "mandatetypes":
			c.found("references", "lists", "the reference data has a list %q", name)
		default:
			c.found("references", "application_types", "the list of mandate types is called %q", name)
		}
		return
	}
	c.unknown("references", "no list of mandate types was found")
}

// referenceIDs looks at the ids of mandate types.
func (c *check) referenceIDs(v value) {
	numbers, texts := 0, 0
	v.each(func(name string, member value) {
		if client.FoldName(name) != "id" {
			return
		}
		if _, isText := text(member); isText {
			texts++
		} else if _, isNumber := member.number(); isNumber {
			numbers++
		}
	})
	switch {
	case texts > 0:
		c.found("referenceIDs", "string", "ids of the reference data are strings")
	case numbers > 0:
		c.found("referenceIDs", "number", "ids of the reference data are numbers")
	default:
		c.unknown("referenceIDs", "the reference data has no ids")
	}
}

// contentType reads the reference data again, without the Content-Type that the interface lists.
func (c *check) contentType(ctx context.Context) error {
	response, err := c.read(ctx, http.MethodGet, referencesPath, c.token, "")
	switch {
	case err != nil:
		return err
	case response.ok():
		c.found("contentType", "with_body", "a request without a body needs no Content-Type")
	default:
		c.found("contentType", "always", "every request needs a Content-Type (%d without)", response.status)
	}
	return nil
}

// noSuchID is above every plausible id. Ids near one that exists are never tried.
const noSuchID = "9007199254740990"

// missing reads an application that does not exist, to see the form of an error.
func (c *check) missing(ctx context.Context) error {
	response, err := c.get(ctx, "/ext/applications/"+noSuchID, c.token)
	if err != nil {
		return err
	}
	switch {
	case response.ok():
		c.unknown("errorBody", "an application that cannot exist was found; no error was seen")
		return nil
	case response.status != http.StatusNotFound:
		c.found("notFound", fmt.Sprint(response.status), "an application that does not exist gets %d instead of 404: the "+
			"operator would not notice that one is gone", response.status)
	default:
		c.found("notFound", "404", "an application that does not exist gets 404")
	}
	c.errorForm(response)
	return nil
}

func (c *check) errorForm(response answer) {
	contentType := response.header.Get("Content-Type")
	v := parse(response.body)
	switch {
	case len(response.body) == 0:
		c.found("errorBody", "empty", "errors have no body: refusals do not name fields")
	case v.object() == nil && strings.Contains(contentType, "html"):
		c.found("errorBody", "html", "errors are HTML: refusals do not name fields")
	case v.object() == nil:
		c.found("errorBody", "text", "errors are text: refusals do not name fields")
	case strings.Contains(contentType, "problem+json"):
		c.found("errorBody", "problem", "errors are problem details (RFC 7807)")
	default:
		c.found("errorBody", "json", "errors are JSON, with another content type than that of RFC 7807")
	}
	if v.object() == nil {
		return
	}
	documented, extra := map[string]bool{"type": true, "title": true, "exception": true, "status": true}, 0
	for name := range v.object() {
		if !documented[client.FoldName(name)] {
			extra++
		}
	}
	_, numberStatus := v.get("status").number()
	switch {
	case numberStatus:
		c.found("errorShape", "number_status", "status of an error is a number")
	case extra > 0:
		c.found("errorShape", "extended", "errors have %d members that are not documented", extra)
	case v.get("exception").isAbsent():
		c.found("errorShape", "no_exception", "an error without fields has no exception")
	default:
		c.found("errorShape", "documented", "errors have the documented members")
	}
}

// methods asks with OPTIONS which methods complete and reject have, of an application that does not exist.
func (c *check) methods(ctx context.Context) error {
	transitions := &c.result.Suggestion.Settings.Transitions
	for _, operation := range []string{"complete", "reject"} {
		path := "/ext/applications/" + noSuchID + "/" + operation
		response, err := c.read(ctx, http.MethodOptions, path, c.token, "")
		if err != nil {
			return err
		}
		var allowed []string
		for method := range strings.SplitSeq(strings.Join(response.header.Values("Allow"), ","), ",") {
			switch method = strings.ToUpper(strings.TrimSpace(method)); method {
			case http.MethodPatch, http.MethodPost, http.MethodPut:
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			c.unknown(operation+"Method", "the service does not say (%d to OPTIONS); Auto tries PATCH, POST and PUT",
				response.status)
			continue
		}
		c.found(operation+"Method", allowed[0], "the service says that the method is %s", strings.Join(allowed, " or "))
		switch { // Auto begins with PATCH
		case allowed[0] == http.MethodPatch:
		case operation == "complete":
			transitions.CompleteMethod = v1alpha1.TransitionMethod(allowed[0])
		default:
			transitions.RejectMethod = v1alpha1.TransitionMethod(allowed[0])
		}
	}
	return nil
}

// collectNames keeps the names of the members of a response for memberCase, the dictionary of a map apart.
func (c *check) collectNames(response answer) {
	documented := []string{
		"mandate_types", "application_types", "document_types", "country_codes", "mandate_type", "available_actions",
		"terms_accepted", "completed_actions", "checks_in_review", "checks_in_pending", "checks_passed",
	}
	parse(response.body).each(func(name string, _ value) {
		for _, known := range documented {
			if client.FoldName(name) == client.FoldName(known) {
				c.names[name] = true
			}
		}
	})
}

// memberCase says how names of members are written.
func (c *check) memberCase() {
	for name := range c.names {
		switch {
		case name == strings.ToUpper(name):
			c.found("memberCase", "upper", "names of members are written as in %s", name)
		case strings.Contains(name, "_"):
			c.found("memberCase", "snake", "names of members are written as in %s", name)
		case name[:1] == strings.ToUpper(name[:1]):
			c.found("memberCase", "pascal", "names of members are written as in %s", name)
		default:
			c.found("memberCase", "camel", "names of members are written as in %s", name)
		}
		return
	}
	c.unknown("memberCase", "no name of two words was seen")
}
