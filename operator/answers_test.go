package operator_test

import (
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
)

var answerBodies = []string{
	answerNone, answerProblem, answerContradiction, answerJSON, answerFailure, answerHTML, answerCutOff, answerTooLong,
}

// cell is one act whose requests somebody answers in place of the service, who may have carried them out.
type cell struct {
	act    string
	status int
	body   string
	done   bool // the service carries each request out, before somebody else answers it
	name   string

	answered int // requests that were answered so
}

// String implements fmt.Stringer.
func (c *cell) String() string {
	return fmt.Sprintf("%s: %s answers %d with the body %s, carried out: %v", c.name, c.act, c.status, c.body, c.done)
}

// lies reports whether nobody could tell such an answer from the service's own word: a problem that refuses what was
// done, or a success of what was not.
func (c *cell) lies() bool {
	refuses := c.status >= 400 && c.status < 500 && !slices.Contains([]int{408, 425}, c.status)
	succeeds := slices.Contains([]int{200, 202, 204}, c.status) && (c.body == answerNone || c.body == answerJSON)
	return c.done && refuses && c.body == answerProblem || !c.done && succeeds && c.act != actCreate
}

// allCells are the whole matrix, apart from what HTTP cannot say and from what nobody could tell.
func allCells() (cells []*cell, lies int) {
	for _, act := range acts {
		for _, status := range answerStatuses {
			for _, body := range answerBodies {
				for _, done := range []bool{true, false} {
					c := &cell{act: act, status: status, body: body, done: done}
					switch {
					case (status == 0 || status == http.StatusNoContent) && body != answerNone: // they have no body
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
	if c == nil || p.lifted || !actPaths[c.act].MatchString(r.Method+" "+r.URL.Path) {
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
	if c.done {
		p.ReverseProxy.ServeHTTP(httptest.NewRecorder(), r)
	}
	c.answer(w)
}

// answer writes the answer of a cell.
func (c *cell) answer(w http.ResponseWriter) {
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
	}[c.body]
	if c.body == answerContradiction && c.status == http.StatusBadGateway {
		body = problem(http.StatusBadRequest)
	}
	w.Header().Set("Content-Type", map[bool]string{true: "text/html", false: "application/json"}[c.body == answerHTML])
	if c.status/100 == 3 {
		w.Header().Set("Location", "https://sign-in.example.com/")
	}
	if c.body == answerCutOff {
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

// answered is how many requests of a cell were answered.
func (p *answeringProxy) answered(c *cell) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return c.answered
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
