package chaos_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// effect is a request of the operator that changes or reads something outside it. Its name is the same in every run of
// the scenario, whatever runs concurrently. A sequence number alone would not be.
type effect struct {
	what  string // method and kind, as in "PATCH mandates/status", or the service's path
	about string // the Mandate or action, "" for none
	nth   int    // of the same kind, from 1
}

func (e effect) String() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s #%d", e.what, e.about, e.nth)), " ")
}

// everyMandate is the owner of effects that all Mandates of a scenario depend on.
const everyMandate = ""

// owner is the Mandate that an effect belongs to.
func (e effect) owner() string {
	switch {
	case slices.Contains(mandates, e.about):
		return e.about
	case e.about == resend:
		return plain
	case e.about == report, e.what == "POST secrets":
		return decided
	case e.about == reset:
		return rejected
	}
	return everyMandate
}

// names maps requests to effects. It learns the service's ids from its answers.
type names struct {
	ids         map[string]string // from the service's kind and id to Mandate
	individuals map[string]string // from those of individuals and checks to the reference of the individual
}

var (
	apiPath     = regexp.MustCompile(`^/apis?/(?:[^/]+/)?[^/]+/namespaces/[^/]+/([a-z]+)(?:/([^/]+))?(/status)?$`)
	servicePath = regexp.MustCompile(`^/api/v1/(?:ext/)?([a-z]+)(?:/(\d+))?(/.*)?$`)
)

// apiEffect names a request to the API server. ok is false for a read, and for the leader's lease.
func (n *names) apiEffect(r faultproxy.Request) (what, about string, ok bool) {
	match := apiPath.FindStringSubmatch(r.Path)
	if r.Method == http.MethodGet || match == nil || match[1] == "leases" {
		return "", "", false
	}
	resource, name := match[1], match[2]
	if resource == "events" {
		name = "" // random, and in any order
	}
	if resource == "applicationrecords" {
		name = objectName(name, r.Body) // that of its Mandate
	}
	return r.Method + " " + resource + match[3], name, true
}

// serviceEffect names a request to the service, and gives the kind and id that it is for.
func (n *names) serviceEffect(r faultproxy.Request) (what, about, target string) {
	match := servicePath.FindStringSubmatch(r.Path)
	if match == nil {
		return "service: " + r.Method + " something else", "", ""
	}
	kind, id := match[1], match[2]
	if id == "" {
		return "service: " + r.Method + " " + kind + match[3], n.aboutBody(r.Body), ""
	}
	return "service: " + r.Method + " " + kind + "/ID" + match[3], n.ids[kind+id], kind + id
}

// aboutBody is the Mandate that a request is for: a create has its reference, and a subscription the application's id.
func (n *names) aboutBody(body []byte) string {
	var subscription struct {
		ApplicationID int64 `json:"application_id"`
	}
	if json.Unmarshal(body, &subscription) == nil && subscription.ApplicationID != 0 {
		return n.ids["applications"+strconv.FormatInt(subscription.ApplicationID, 10)]
	}
	return reference(body)
}

// learnIDs reads the ids in an application, as a create or a poll returns it.
func (n *names) learnIDs(about string, answer []byte) {
	var application struct {
		ID          int64
		Individuals []struct {
			ID        int64
			Reference string
			Checks    []struct{ ID int64 }
		}
	}
	if json.Unmarshal(answer, &application) != nil {
		return
	}
	n.ids["applications"+strconv.FormatInt(application.ID, 10)] = about
	for _, individual := range application.Individuals {
		targets := []string{"individuals" + strconv.FormatInt(individual.ID, 10)}
		for _, check := range individual.Checks {
			targets = append(targets, checkTarget(check.ID))
		}
		for _, target := range targets {
			n.ids[target], n.individuals[target] = about, individual.Reference
		}
	}
}

func checkTarget(id int64) string { return "check" + strconv.FormatInt(id, 10) }

// objectName is the name in a path or, of a create, in the body.
func objectName(name string, body []byte) string {
	var object struct{ Metadata struct{ Name string } }
	if name == "" && json.Unmarshal(body, &object) == nil {
		return object.Metadata.Name
	}
	return name
}

// reference is the Mandate's name, which ends the default reference of a create.
func reference(body []byte) string {
	var application struct{ Reference string }
	_ = json.Unmarshal(body, &application) // a login is not JSON
	return application.Reference[strings.LastIndex(application.Reference, ".")+1:]
}
