package operator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// acts are the requests that e-mail people or cannot be undone.
const (
	actCreate      = "create"
	actResend      = "resend"
	actReset       = "reset"
	actComplete    = "complete"
	actReject      = "reject"
	actArchive     = "archive"
	actDelete      = "delete"
	actAcceptCheck = "accept check"
	actRejectCheck = "reject check"
	actSubscribe   = "subscribe"
)

var acts = []string{
	actCreate, actResend, actReset, actComplete, actReject, actArchive, actDelete, actAcceptCheck, actRejectCheck,
	actSubscribe,
}

// answerStatuses are those of the answers; 0 is none: the connection closes.
var answerStatuses = []int{
	0, 200, 202, 204, 301, 302, 400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 422, 423, 425, 429, 500, 502, 503, 504,
}

// The kinds of bodies of answers.
const (
	answerNone          = "none"
	answerProblem       = "problem"
	answerContradiction = "contradiction"
	answerJSON          = "JSON"
	answerFailure       = "success: false"
	answerHTML          = "HTML"
	answerCutOff        = "cut off"
	answerTooLong       = "too long"
	answerChallenge     = "Bearer challenge" // of a 401
	// Of a create: an id alone, in the body or in the header Location, and the reference that was sent, alone.
	answerID        = "id"
	answerLocation  = "Location"
	answerReference = "reference"
)

var answerBodies = []string{
	answerNone, answerProblem, answerContradiction, answerJSON, answerFailure, answerHTML, answerCutOff, answerTooLong,
	answerChallenge, answerID, answerLocation, answerReference,
}

// When the service carries out a request that somebody else answers.
const (
	workNever  = "never"
	workBefore = "before the answer"
	workAfter  = "after the answer"
)

var works = []string{workNever, workBefore, workAfter}

// workDelay is how long after the answer the service carries out a request: after the operator has read what became of
// it, and before the operator believes that.
const workDelay = time.Second

// cell is one act whose requests somebody answers in place of the service, who may carry them out.
type cell struct {
	act    string
	status int
	body   string
	work   string
	name   string

	requestCounts
}

// requestCounts are how many requests of a cell were answered, and how many were sent at all.
type requestCounts struct{ answered, sent int }

// String implements fmt.Stringer.
func (c *cell) String() string {
	return fmt.Sprintf("%s: %s answers %d with the body %s, carried out %s", c.name, c.act, c.status, c.body, c.work)
}

// exists reports whether there is such an answer: some have no body, and some bodies are of one status or act.
func (c *cell) exists() bool {
	switch c.body {
	case answerNone:
		return true
	case answerChallenge:
		return c.status == http.StatusUnauthorized
	case answerID, answerReference:
		return c.act == actCreate && c.status != 0 && c.status != http.StatusNoContent
	case answerLocation:
		return c.act == actCreate && c.status != 0
	default:
		return c.status != 0 && c.status != http.StatusNoContent
	}
}

// refuses reports whether the answer is the service's own word that it does nothing.
func (c *cell) refuses() bool {
	refuses := c.status >= 400 && c.status < 500 && !slices.Contains([]int{408, 425}, c.status)
	return refuses && (c.body == answerProblem || c.body == answerChallenge)
}

// succeeds reports whether the answer is the service's own word that it does it.
func (c *cell) succeeds() bool {
	return slices.Contains([]int{200, 202, 204}, c.status) && (c.body == answerNone || c.body == answerJSON)
}

// lies reports whether nobody could tell such an answer from the service's own word: a problem that refuses what is
// done, or a success of what is not.
func (c *cell) lies() bool {
	return c.work != workNever && c.refuses() || c.work == workNever && c.succeeds() && c.act != actCreate
}

// allCells are the whole matrix, apart from what nobody could tell.
func allCells() (cells []*cell, lies int) {
	for _, act := range acts {
		for _, status := range answerStatuses {
			for _, body := range answerBodies {
				for _, work := range works {
					c := &cell{act: act, status: status, body: body, work: work}
					switch {
					case !c.exists():
					case c.lies():
						lies++
					default:
						c.name = fmt.Sprintf("c%04d", len(cells))
						cells = append(cells, c)
					}
				}
			}
		}
	}
	return cells, lies
}

// answeringProxy is between the operator and the sandbox, and answers the requests of cells itself. Each cell has a
// connection of its own, whose base URL ends in its name, so that none opens the circuit of another.
type answeringProxy struct {
	*httputil.ReverseProxy

	mu     sync.Mutex
	lifted bool
	cells  map[string]*cell // by name
	last   time.Time        // of the last answer of its own
}

func newAnsweringProxy(sandboxURL string, cells []*cell) (*answeringProxy, *httptest.Server) {
	target, err := url.Parse(sandboxURL)
	if err != nil {
		panic(err)
	}
	p := &answeringProxy{ReverseProxy: httputil.NewSingleHostReverseProxy(target), cells: map[string]*cell{}}
	for _, c := range cells {
		p.cells[c.name] = c
	}
	return p, httptest.NewServer(p)
}

// actPaths are the requests of each act. Some services have another method for a decision than the documented ones.
var actPaths = map[string]*regexp.Regexp{
	actCreate:      regexp.MustCompile(`^POST .*/ext/applications$`),
	actResend:      regexp.MustCompile(`^[^G]\w+ .*/invites/resend$`),
	actReset:       regexp.MustCompile(`^[^G]\w+ .*/reset$`),
	actComplete:    regexp.MustCompile(`^[^G]\w+ .*/complete$`),
	actReject:      regexp.MustCompile(`^[^G]\w+ .*/ext/.*/reject$`),
	actArchive:     regexp.MustCompile(`^[^G]\w+ .*/archive$`),
	actDelete:      regexp.MustCompile(`^DELETE .*/ext/applications/\d+$`),
	actAcceptCheck: regexp.MustCompile(`^[^G]\w+ .*/check/.*/accept$`),
	actRejectCheck: regexp.MustCompile(`^[^G]\w+ .*/check/.*/reject$`),
	actSubscribe:   regexp.MustCompile(`^[^G]\w+ .*/webhooks/subscribe$`),
}

// find gives the cell that a request is of, or nil, and removes its name from the path.
func (p *answeringProxy) find(r *http.Request) *cell {
	name, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	r.URL.Path, r.URL.RawPath = "/"+rest, ""
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.cells[name]
	if c == nil || !actPaths[c.act].MatchString(r.Method+" "+r.URL.Path) {
		return nil
	}
	c.sent++
	if p.lifted {
		return nil
	}
	c.answered++
	p.last = time.Now()
	return c
}

// ServeHTTP answers in place of the service, or passes the request on.
func (p *answeringProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := p.find(r)
	if c == nil {
		p.ReverseProxy.ServeHTTP(w, r)
		return
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	work := func() *httptest.ResponseRecorder {
		recorder, again := httptest.NewRecorder(), r.Clone(context.WithoutCancel(r.Context()))
		again.Body = io.NopCloser(bytes.NewReader(content))
		p.ReverseProxy.ServeHTTP(recorder, again)
		return recorder
	}
	created := []byte(`{"id":4711}`) // of nothing
	switch c.work {
	case workBefore:
		created = work().Body.Bytes()
	case workAfter:
		time.AfterFunc(workDelay, func() { work() })
	}
	c.answer(w, applicationIn(created).ID, applicationIn(content).Reference)
}

// application is what shows which application something is about.
type application struct {
	ID        int64  `json:"id"`
	Reference string `json:"reference"`
}

func applicationIn(object []byte) (found application) {
	_ = json.Unmarshal(object, &found) // of most acts, it is about something else, and nobody asks
	return found
}

// answer writes the answer of a cell, to a request with that reference.
func (c *cell) answer(w http.ResponseWriter, id int64, reference string) {
	if c.status == 0 {
		panic(http.ErrAbortHandler)
	}
	problem := func(status int) string {
		return fmt.Sprintf(`{"type":"","title":"Somebody says no","exception":{},"status":"%d"}`, status)
	}
	body := map[string]string{
		answerNone: "", answerProblem: problem(c.status), answerContradiction: problem(502), answerJSON: `{"message":"ok"}`,
		answerFailure: `{"success":false}`, answerHTML: "<html><body>Sign in</body></html>",
		answerCutOff: `{"message":"ok"}`, answerTooLong: `{"message":"` + strings.Repeat("x", 2<<20) + `"}`,
		answerChallenge: `{"error":"invalid_token"}`, answerID: fmt.Sprintf(`{"id":%d}`, id),
		answerReference: fmt.Sprintf(`{"reference":%q}`, reference),
	}[c.body]
	if c.body == answerContradiction && c.status == http.StatusBadGateway {
		body = problem(http.StatusBadRequest)
	}
	w.Header().Set("Content-Type", map[bool]string{true: "text/html", false: "application/json"}[c.body == answerHTML])
	if c.status/100 == 3 {
		w.Header().Set("Location", "https://sign-in.example.com/")
	}
	switch c.body {
	case answerChallenge:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case answerLocation:
		w.Header().Set("Location", fmt.Sprintf("/api/v1/ext/applications/%d", id))
	case answerCutOff:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+10))
	}
	w.WriteHeader(c.status)
	_, _ = io.WriteString(w, body)
	if c.body == answerCutOff {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// quiet is how long no request of a cell has been answered.
func (p *answeringProxy) quiet() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.last)
}

// unanswered are cells whose request never came.
func (p *answeringProxy) unanswered() (cells []*cell) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.cells)) {
		if p.cells[name].answered == 0 {
			cells = append(cells, p.cells[name])
		}
	}
	return cells
}

// counts are those of each cell, by its name.
func (p *answeringProxy) counts() map[string]requestCounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := map[string]requestCounts{}
	for name, c := range p.cells {
		counts[name] = c.requestCounts
	}
	return counts
}

// mostSends is how many requests of a cell may be sent without proof that one of them did nothing; 0: any number. A
// decision, a review or an archiving is sent again only if a read shows after a while that it was not carried out.
func (c *cell) mostSends() int {
	limit := int(ledger.MaxSends(callKinds[c.act]))
	decides := slices.Contains([]string{actComplete, actReject, actArchive, actAcceptCheck, actRejectCheck}, c.act)
	switch {
	case c.refuses(), c.act == actDelete: // what is deleted twice is deleted
		return 0
	case c.act == actCreate && slices.Contains([]int{http.StatusTooManyRequests, http.StatusServiceUnavailable}, c.status):
		return 0
	case decides && (c.work != workNever || c.succeeds()):
		return 1
	default:
		return limit
	}
}

// callKinds are the acts as the log has them.
var callKinds = map[string]v1alpha1.CallKind{
	actCreate: v1alpha1.CallCreate, actResend: v1alpha1.CallResendInvite, actReset: v1alpha1.CallResetIndividual,
	actComplete: v1alpha1.CallComplete, actReject: v1alpha1.CallReject, actArchive: v1alpha1.CallArchive,
	actDelete: v1alpha1.CallDelete, actAcceptCheck: v1alpha1.CallAcceptCheck,
	actRejectCheck: v1alpha1.CallRejectCheck, actSubscribe: v1alpha1.CallSubscribe,
}

// nameOf is the name of the Mandate of a default reference, or of one that was edited.
func nameOf(reference string) string {
	_, name, _ := strings.Cut(reference, ".")
	return strings.TrimSuffix(name, "-edited")
}

// lift lets everything through from now on.
func (p *answeringProxy) lift() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lifted, p.last = true, time.Now()
}
