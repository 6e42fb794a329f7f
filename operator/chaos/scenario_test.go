package chaos_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// scenario is a namespace and a service of its own, the steps of its users, and the faults among them.
type scenario struct {
	plans     []plan
	namespace string
	password  string
	target    string // the URL of the service, past the proxy
	sandbox   *control.Client
	direct    *idv.Client // past the proxy
	service   *faultproxy.Proxy
	problems  []string

	fleet *fleet
	close func()

	mu          sync.Mutex
	names       names
	pausePoints map[effect]*pausePoint
	counted     map[effect]int // by effect without its nth
	occurred    []*occurrence
	reviewed    map[reviewOf]bool // what users have asked for
	permissions []permission
	liveReads   []liveRead
}

// occurrence is an effect that occurred, and its result.
type occurrence struct {
	effect    effect
	target    string // the kind and id at the service
	epoch     int    // of the operator
	at        time.Duration
	fault     fault
	forwarded bool // to the server
	status    int  // of the response, 0 without one
	received  bool // the response, by the operator or at least by its kernel
}

func (o *occurrence) String() string {
	words := fmt.Sprintf("%6.2fs operator %d  %s", o.at.Seconds(), o.epoch, o.effect)
	switch {
	case o.forwarded && o.status > 0:
		words += fmt.Sprintf(" -> %d", o.status)
	case o.forwarded:
		words += " -> no answer"
	}
	if o.fault != "" {
		words += "  <== " + strings.ToUpper(string(o.fault))
	}
	return words
}

func (f *fleet) newScenario(plans []plan) (*scenario, error) {
	namespace, err := cluster.namespace(f.ctx)
	if err != nil {
		return nil, err
	}
	s := &scenario{
		plans: plans, namespace: namespace, fleet: f, password: canary + namespace,
		counted: map[effect]int{}, pausePoints: map[effect]*pausePoint{}, reviewed: map[reviewOf]bool{},
	}
	service := sandbox.New(sandbox.Options{Password: s.password, Logger: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(service)
	s.target, s.sandbox = server.URL, control.New(server.URL)
	if err := s.sandbox.SetDialect(f.ctx, "resetCheckIDs", "new"); err != nil {
		return nil, err
	}
	s.direct, err = idv.New(idv.Config{
		BaseURL: server.URL, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(s.password)},
	})
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{}
	s.service, err = faultproxy.New(faultproxy.Options{
		Target: server.URL, Transport: transport, Inject: s.injectService, Epoch: f.current,
	})
	if err != nil {
		return nil, err
	}
	s.close = func() {
		s.direct.Close()
		s.service.Close()
		transport.CloseIdleConnections()
		service.Close()
		server.Close()
	}
	s.names = names{ids: map[string]string{}, individuals: map[string]string{}}
	return s, nil
}

func (s *scenario) reference(mandate string) string { return s.namespace + "." + mandate }

func (s *scenario) injectAPI(r faultproxy.Request) faultproxy.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recordLiveRead(r)
	what, about, ok := s.names.apiEffect(r)
	if !ok {
		return faultproxy.Fault{}
	}
	return s.inject(r, what, about, "")
}

func (s *scenario) injectService(r faultproxy.Request) faultproxy.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	what, about, target := s.names.serviceEffect(r)
	return s.inject(r, what, about, target)
}

// inject records an effect, and decides what happens to it. The caller holds mu.
func (s *scenario) inject(r faultproxy.Request, what, about, target string) faultproxy.Fault {
	kind := effect{what: what, about: about}
	s.counted[kind]++
	o := &occurrence{
		effect: effect{what, about, s.counted[kind]}, target: target, epoch: r.Epoch, at: time.Since(s.fleet.started),
	}
	s.occurred = append(s.occurred, o)
	o.fault = s.faultAt(o.effect)
	f := faultproxy.Fault{OnResponse: func(response faultproxy.Response) { s.recordResponse(o, response) }}
	if paused := s.pausePoints[o.effect]; paused != nil {
		return paused.apply(s.fleet.ctx, f)
	}
	switch o.fault {
	case killBefore:
		f.Drop, f.OnRequest = faultproxy.DropRequest, func() { s.fleet.kill(o.epoch) }
	case killAfter:
		f.Drop = faultproxy.DropResponse
		f.OnResponse = func(response faultproxy.Response) {
			s.recordResponse(o, response)
			s.fleet.kill(o.epoch)
		}
	case drop:
		f.Drop = faultproxy.DropResponse
	case late:
		f.OnRequest = func() { s.sleep(settleDelay + settleDelay/4) }
	case twice:
		f.Duplicate = true
	case refuse, conflict, busy:
		f.Replace = refusal(o.fault, strings.HasPrefix(what, "service"))
		f.OnResponse = nil
	}
	return f
}

// recordResponse records the server's response. An operator that is killed at this moment counts as one that did not
// receive it: nothing can prove that it did.
func (s *scenario) recordResponse(o *occurrence, response faultproxy.Response) {
	epoch := s.fleet.current()
	s.mu.Lock()
	defer s.mu.Unlock()
	o.forwarded, o.status = true, response.Status
	o.received = response.Status > 0 && o.fault != drop && o.fault != killAfter && o.epoch == epoch
	if (o.effect.what == createRequest || o.effect.what == poll) && response.Status/100 == 2 {
		s.names.learnIDs(o.effect.about, response.Body)
	}
}

func (s *scenario) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-s.fleet.ctx.Done():
	case <-timer.C:
	}
}

// refusal is the answer of the proxy in place of the server's.
func refusal(f fault, atService bool) *faultproxy.Response {
	status, reason := http.StatusInternalServerError, metav1.StatusReasonInternalError
	switch {
	case f == conflict:
		status, reason = http.StatusConflict, metav1.StatusReasonConflict
	case f == busy:
		status, reason = http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests
	case atService:
		status = http.StatusServiceUnavailable
	}
	response := &faultproxy.Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}}
	response.Body = fmt.Appendf(nil, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q,
		"message": "a fault"}`, status, reason)
	if atService {
		response.Header.Set("Content-Type", "application/problem+json")
		response.Body = fmt.Appendf(nil, `{"status": %d, "title": "a fault"}`, status)
	}
	if f == busy {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

// trace lists the effects that occurred, without personal data.
func (s *scenario) trace() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := make([]string, len(s.occurred))
	for i, o := range s.occurred {
		lines[i] = fmt.Sprintf("%4d %s", i+1, o)
	}
	return strings.Join(lines, "\n")
}

// occurrences are the effects so far.
func (s *scenario) occurrences() []occurrence {
	s.mu.Lock()
	defer s.mu.Unlock()
	occurrences := make([]occurrence, len(s.occurred))
	for i, o := range s.occurred {
		occurrences[i] = *o
	}
	return occurrences
}

func (s *scenario) faultAt(e effect) fault {
	for _, p := range s.plans {
		for _, i := range p {
			if i.effect == e {
				return i.fault
			}
		}
	}
	return ""
}

// injected is how many faults of a plan met their effect.
func (s *scenario) injected(p plan) (n int) {
	for _, o := range s.occurrences() {
		if slices.ContainsFunc(p, func(i injection) bool { return i.effect == o.effect }) {
			n++
		}
	}
	return n
}

// until waits until missing returns nothing, which otherwise describes what is missing.
func (s *scenario) until(ctx context.Context, missing func() string) error {
	return s.untilWithin(ctx, timeout, missing)
}

// untilWithin is until with another limit. It is longer beside other work: what a fault has stopped for good is found
// only by a limit.
func (s *scenario) untilWithin(ctx context.Context, limit time.Duration, missing func() string) error {
	limit = await.Stretch(limit, await.Slowdown())
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		what := missing()
		if what == "" {
			return nil
		}
		if err := s.fleet.failed(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %s", limit, what)
		case <-ticker.C:
		}
	}
}
