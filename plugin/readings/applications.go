package readings

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/client"
)

// applications reads those that the options name.
func (c *check) applications(ctx context.Context) error {
	if len(c.options.Applications) == 0 {
		c.unknown("applications", "ids, states, wrapping, individuals and webhooks need an application that exists: repeat "+
			"with --application ID after the first create")
		return nil
	}
	for i, application := range c.options.Applications {
		if err := c.application(ctx, application, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func (c *check) application(ctx context.Context, wanted Application, first bool) error {
	response, err := c.get(ctx, "/ext/applications/"+strconv.FormatInt(wanted.ID, 10), c.token)
	switch {
	case err != nil:
		return err
	case !response.ok():
		return fmt.Errorf("the application %d cannot be read: HTTP status %d; check the id, and that the credentials are "+
			"those of its account", wanted.ID, response.status)
	}
	c.collectNames(response)
	whole := parse(response.body)
	v, wrapper := whole.unwrap("data", "application", "mandate")
	c.stateName(wanted, v)
	if !first {
		return nil
	}
	c.foundOrNot("wrap", wrapper, "none", "responses are wrapped in "+strconv.Quote(wrapper), "responses are not wrapped")
	c.ids(v)
	c.statuses(v)
	c.absentValues(v)
	c.memberExtras(v)
	if err := c.individual(ctx, v); err != nil {
		return err
	}
	return c.webhook(ctx, wanted.ID)
}

// foundOrNot is found with one of two texts.
func (c *check) foundOrNot(point, reading, otherwise, yes, no string) {
	if reading == "" {
		c.found(point, otherwise, "%s", no)
		return
	}
	c.found(point, reading, "%s", yes)
}

func (c *check) ids(v value) {
	id := v.get("id")
	digits, isText := text(id)
	if isText {
		c.found("ids", "string", "ids are strings")
	} else {
		digits = fmt.Sprint(id.decoded)
		c.found("ids", "number", "ids are numbers")
	}
	number, _ := strconv.ParseInt(digits, 10, 64)
	switch {
	case number > 1<<53:
		c.found("idSize", "above_53_bits", "ids are above 53 bits, which many programs cannot hold exactly")
	case number > 1<<40:
		c.found("idSize", "above_40_bits", "ids are above 40 bits")
	case number < 1000:
		c.found("idSize", "from_one", "ids are small, so an application and an individual may have the same")
	default:
		c.found("idSize", "usual", "ids are of the usual size")
	}
}

// stateOf reads a status as the client does: an object, a name or a number.
func stateOf(status value) client.State {
	if name, ok := text(status); ok {
		return client.State{Name: name}
	}
	if _, ok := status.number(); ok {
		return client.State{Name: fmt.Sprint(status.decoded)}
	}
	for _, member := range []string{"status", "name", "state", "code"} {
		if name, ok := text(status.get(member)); ok {
			return client.State{Name: name}
		}
	}
	return client.State{}
}

// stateName compares the state of an application with what it means, and with what the client knows.
func (c *check) stateName(application Application, v value) {
	state := stateOf(v.get("status", "state"))
	stages := map[Meaning]client.Stage{
		InReview: client.StageInReview, Completed: client.StageCompleted, Rejected: client.StageRejected,
	}
	stage := client.StateNames{}.Stage(state)
	switch wanted, said := stages[application.Meaning]; {
	case state.Name == "":
		c.unknown("stateNames", "the application %d shows no state", application.ID)
	case said && stage == wanted:
		c.found("stateNames", "known", "%q means %s, as the client knows", state.Name, application.Meaning)
	case said && stage != client.StageOpen:
		c.found("stateNames", "contradiction", "%q means %s here, and something else to the client; no setting changes that",
			state.Name, application.Meaning)
	case said:
		c.result.Suggestion.addState(application.Meaning, state.Name)
		c.found("stateNames", "other", "%q means %s; add it to spec.states", state.Name, application.Meaning)
	case stage == client.StageOpen:
		c.unknown("stateNames", "the application %d is %q, which is no outcome for the client; if it is in review, "+
			"completed or rejected, repeat with --application %[1]d=inReview, completed or rejected", application.ID, state.Name)
	default:
		c.found("stateNames", "known", "the client knows the state %q", state.Name)
	}
}

// statuses looks at the form of every status: of the application, its individuals and their checks.
func (c *check) statuses(v value) {
	shape := "object"
	status := v.get("status", "state")
	if _, ok := text(status); ok {
		shape = "string"
	} else if _, ok := status.number(); ok {
		shape = "integer"
	}
	c.found("statusShape", shape, "a status is of the type %s", shape)
	var names []string
	v.each(func(name string, member value) {
		if folded := client.FoldName(name); folded == "status" || folded == "state" {
			names = append(names, stateOf(member).Name)
		}
	})
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if form := formOf(name); form != "" {
			c.found("statusCase", form, "names of states are written as in %q", name)
			return
		}
	}
	c.unknown("statusCase", "no state of two words was seen; letter case and the characters between words do not matter")
}

// formOf is the form of a name of two words, or of one that is not in lower case.
func formOf(name string) string {
	switch {
	case name == "" || strings.Trim(name, "0123456789") == "":
		return ""
	case name == strings.ToUpper(name):
		return "upper"
	case name[:1] == strings.ToUpper(name[:1]):
		return "title"
	case strings.Contains(name, "_"):
		return "snake"
	case strings.Contains(name, "-"):
		return "kebab"
	case strings.Contains(name, " "):
		return "plain"
	}
	return ""
}

func (c *check) absentValues(v value) {
	nulls, empties := 0, 0
	v.each(func(_ string, member value) {
		if member.decoded == nil {
			nulls++
		}
		if empty, ok := text(member); ok && empty == "" {
			empties++
		}
	})
	switch {
	case nulls > 0 && empties > 0:
		c.found("absentValues", "by_type", "absent values are null or empty texts")
	case nulls > 0:
		c.found("absentValues", "null", "absent values are null")
	case empties > 0:
		c.found("absentValues", "empty", "absent values are empty texts")
	default:
		c.found("absentValues", "missing", "absent values are left out, or there are none")
	}
}

func (c *check) memberExtras(v value) {
	documented := []string{
		"id", "name", "reference", "mandate_type", "status", "individuals", "archived", "available_actions",
		"suppress_email_notification",
	}
	extra := 0
	for name := range v.object() {
		if !slices.ContainsFunc(documented, func(d string) bool { return client.FoldName(d) == client.FoldName(name) }) {
			extra++
		}
	}
	if extra > 0 {
		c.found("applicationMembers", "present", "an application has %d members that are not documented", extra)
	}
}

// individual reads the first individual, and with Options.Report the report.
func (c *check) individual(ctx context.Context, application value) error {
	individuals, _ := application.get("individuals").list()
	if len(individuals) == 0 {
		c.unknown("retrieveIndividual", "the application shows no individual")
		return nil
	}
	id := fmt.Sprint(value{individuals[0]}.get("id").decoded)
	if id == "" || strings.Trim(id, "0123456789") != "" {
		c.unknown("retrieveIndividual", "the individual shows no id")
		return nil
	}
	response, err := c.get(ctx, "/ext/individuals/"+id, c.token)
	if err != nil {
		return err
	}
	if !response.ok() {
		c.unknown("retrieveIndividual", "the individual cannot be read: HTTP status %d", response.status)
		return nil
	}
	v := parse(response.body)
	inner, data := v.unwrap("data")
	_, own := inner.unwrap("individual")
	switch {
	case own != "":
		c.found("retrieveIndividual", "individual", "an individual is wrapped in %q", own)
	case data != "":
		c.found("retrieveIndividual", "data", "an individual is wrapped in %q", data)
	default:
		c.found("retrieveIndividual", "plain", "an individual is not wrapped")
	}
	if !c.options.Report {
		c.unknown("reportFormat", "a report is personal data, so it is read with --report only")
		return nil
	}
	return c.report(ctx, id)
}

// report looks at the form of a report, and keeps nothing of it.
func (c *check) report(ctx context.Context, individual string) error {
	response, err := c.get(ctx, "/ext/individuals/"+individual+"/report", c.token)
	if err != nil {
		return err
	}
	contentType, _, _ := strings.Cut(response.header.Get("Content-Type"), ";")
	switch isURL, isJSON := reportURL(parse(response.body)), parse(response.body).object() != nil; {
	case !response.ok():
		c.found("reportNotReady", strconv.Itoa(response.status), "a report that is not ready gets %d (%s)", response.status,
			http.StatusText(response.status))
	case isURL:
		c.found("reportFormat", "json_url", "a report is a URL: the operator does not follow URLs, and the action "+
			"fails with ReportIsURL")
	case isJSON:
		c.found("reportFormat", "json_base64", "a report is JSON; the Secret gets the JSON as it is")
	default:
		c.found("reportFormat", "pdf", "a report is a file of the type %s", contentType)
	}
	return nil
}

func reportURL(v value) bool {
	found := false
	v.each(func(_ string, member value) {
		found = found || isURL(member)
	})
	return found
}

func isURL(v value) bool {
	s, _ := text(v)
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}
