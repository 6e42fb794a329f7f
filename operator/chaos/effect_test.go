package chaos_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mandate-io/idv/internal/testenv/faultproxy"
)

// An effect is something that the operator does to the world outside. Its name is the same in every life, whatever goes on
// beside it: what is done, whom it is about, and the how manieth of these it is. A number alone would not be.
type effect struct {
	what  string // method and kind, as in "PATCH mandates/status", or the service's path
	about string // the Mandate or order, "" for none
	nth   int
}

func (e effect) String() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s #%d", e.what, e.about, e.nth)), " ")
}

// everybody is the lane of what all Mandates of a life depend on.
const everybody = ""

// lane is the Mandate whose life an effect belongs to.
func (e effect) lane() string {
	switch {
	case slices.Contains(mandates, e.about):
		return e.about
	case e.about == resend:
		return plain
	case e.about == report, e.what == "POST secrets":
		return decided
	}
	return everybody
}

// names tells what requests are about. The service's ids are learnt from its answers.
type names struct {
	records map[string]string // of ApplicationRecords, to the Mandate's
	ids     map[string]string // the service's, by kind and number
}

var (
	apiPath     = regexp.MustCompile(`^/apis?/(?:[^/]+/)?[^/]+/namespaces/[^/]+/([a-z]+)(?:/([^/]+))?(/status)?$`)
	servicePath = regexp.MustCompile(`^/api/v1/(?:ext/)?([a-z]+)(?:/(\d+))?(/.*)?$`)
)

// ofAPI names a request to the API server; false for what is none of our effects: reads, and the leader's lease.
func (n *names) ofAPI(r faultproxy.Request) (what, about string, ok bool) {
	match := apiPath.FindStringSubmatch(r.Path)
	if r.Method == http.MethodGet || match == nil || match[1] == "leases" {
		return "", "", false
	}
	resource, name := match[1], match[2]
	if resource == "events" {
		name = "" // they are told by nobody in particular, in any order
	}
	if resource == "applicationrecords" {
		name = n.records[orName(name, r.Body)]
	}
	return r.Method + " " + resource + match[3], name, true
}

// ofService names a call to the service.
func (n *names) ofService(r faultproxy.Request) (what, about string) {
	match := servicePath.FindStringSubmatch(r.Path)
	if match == nil {
		return "service: " + r.Method + " something else", ""
	}
	kind, id := match[1], match[2]
	if id == "" {
		return "service: " + r.Method + " " + kind + match[3], reference(r.Body)
	}
	return "service: " + r.Method + " " + kind + "/ID" + match[3], n.ids[kind+id]
}

// learn takes the ids out of the answer to a create.
func (n *names) learn(about string, answer []byte) {
	var application struct {
		ID          int64
		Individuals []struct {
			ID     int64
			Checks []struct{ ID int64 }
		}
	}
	if json.Unmarshal(answer, &application) != nil {
		return
	}
	n.ids["applications"+strconv.FormatInt(application.ID, 10)] = about
	for _, individual := range application.Individuals {
		n.ids["individuals"+strconv.FormatInt(individual.ID, 10)] = about
		for _, check := range individual.Checks {
			n.ids["check"+strconv.FormatInt(check.ID, 10)] = about
		}
	}
}

// orName is the name that a path has, or else the body of a create.
func orName(name string, body []byte) string {
	var object struct{ Metadata struct{ Name string } }
	if name == "" && json.Unmarshal(body, &object) == nil {
		return object.Metadata.Name
	}
	return name
}

// reference is the Mandate's name, of the default reference in a create.
func reference(body []byte) string {
	var application struct{ Reference string }
	_ = json.Unmarshal(body, &application) // a login is none
	return application.Reference[strings.LastIndex(application.Reference, ".")+1:]
}
