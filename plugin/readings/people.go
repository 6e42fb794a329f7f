package readings

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
)

// individuals says what tells the people of an application apart, and what is shown of them.
func (c *check) individuals(ctx context.Context, wanted Application, o wire.Object) {
	people := c.first.Individuals
	if len(people) == 0 {
		c.unknown("identity", "the application shows no individual")
		return
	}
	entry := o.Get("individuals").List()[0]
	c.see("individualEntries", entry.Raw())
	c.see("individualReference", people[0].Reference.Reveal())
	c.see("individualEmail", people[0].Email.Reveal())
	identity := map[string]string{"shown": "email", "masked": "masked_email", "hidden": "nothing"}
	if c.isFound("individualReference", "shown") {
		c.saw("identity", "reference")
	} else {
		c.saw("identity", identity[c.result.Find("individualEmail").Reading])
	}
	c.order(wanted.Individuals)
	var states []string
	for _, person := range people {
		for _, one := range person.Checks {
			states = append(states, one.State.Name)
		}
	}
	c.list("checkStates", "checks are", states)
	c.see("checkStateNames", states...)
	checks := entry.Unwrap("individual").Get("checks")
	c.see("checks", checks.Raw())
	if people[0].ID == 0 {
		c.unknown("retrieveIndividual", "the individual shows no id")
		return
	}
	c.individual(ctx, people[0].ID, checks.IsNull())
	if c.options.Report {
		c.report(ctx, people[0].ID)
	} else {
		c.unknown("reportFormat", "a report is personal data, so it is read with --report only")
	}
}

// order compares the order of the individuals with that of the spec.
func (c *check) order(spec []int64) {
	var ids []int64
	for i := range c.first.Individuals {
		ids = append(ids, c.first.Individuals[i].ID)
	}
	backwards := slices.Clone(spec)
	slices.Reverse(backwards)
	switch {
	case len(ids) < 2 || len(spec) != len(ids) || slices.Contains(spec, 0):
		c.unknown("individualOrder", "a Mandate with two individuals that are matched shows it: --mandate NAME")
	case slices.Equal(ids, spec):
		c.saw("individualOrder", "as_sent")
	case slices.Equal(ids, backwards):
		c.saw("individualOrder", "newest_first")
	default:
		c.saw("individualOrder", "by_name")
	}
}

// individual reads an individual, whose checks the application may not show.
func (c *check) individual(ctx context.Context, id int64, withoutChecks bool) {
	_, a := read(ctx, c, func() (*client.Individual, error) { return c.client.RetrieveIndividual(ctx, id) })
	if a.err != nil {
		c.notRead("retrieveIndividual", a)
		return
	}
	c.see("retrieveIndividual", c.inWrap(a.json).Raw())
	if withoutChecks && a.json.Unwrap("individual").Get("checks").IsList() {
		c.saw("checks", "individual_only")
	}
}

// maxReport is what a Secret holds.
const maxReport = 1 << 20

// report looks at the form of a report, and keeps nothing of it.
func (c *check) report(ctx context.Context, individual int64) {
	_, a := read(ctx, c, func() (*client.Report, error) { return c.client.IndividualReport(ctx, individual, maxReport) })
	switch html := kind(a.Exchange) == "html"; {
	case a.Status == http.StatusNotAcceptable:
		c.unknown("reportFormat", "406: the service has the report in no format that the client accepts")
	case client.KindOf(a.err) == client.KindTooLarge, client.IsForbidden(a.err), a.Status == 0, a.Status >= 500:
		c.notRead("reportFormat", a)
	case a.err == nil:
		c.see("reportFormat", string(a.Body.Reveal()))
	case a.Status == http.StatusOK && html:
		c.saw("reportNotReady", "html_200")
	case a.Status == http.StatusOK && client.KindOf(a.err) == client.KindNotReady:
		c.saw("reportNotReady", "processing_200")
	default:
		c.found("reportNotReady", fmt.Sprint(a.Status), "probably, the report is not ready")
	}
}
