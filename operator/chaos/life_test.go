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

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv/faultproxy"
	"github.com/mandate-io/idv/operator/ledger"
)

// life is a namespace and a service of its own, what people do there, and what goes wrong meanwhile.
type life struct {
	plans     []plan
	namespace string
	password  string
	sandbox   *control.Client
	service   *faultproxy.Proxy
	problems  []string

	crew  *crew
	close func()

	mu      sync.Mutex
	names   names
	holds   map[effect]*hold
	counted map[effect]int // by effect without its nth
	history []*happening
}

// happening is an effect that the operator had, and what became of it.
type happening struct {
	effect effect
	epoch  int // of the operator
	at     time.Duration
	fault  fault
	done   bool // what it was to do was tried
	status int  // of the answer, 0 without one
	heard  bool // the operator, or at least its kernel, was given the answer
}

func (h *happening) String() string {
	words := fmt.Sprintf("%6.2fs operator %d  %s", h.at.Seconds(), h.epoch, h.effect)
	switch {
	case h.done && h.status > 0:
		words += fmt.Sprintf(" -> %d", h.status)
	case h.done:
		words += " -> no answer"
	}
	if h.fault != "" {
		words += "  <== " + strings.ToUpper(string(h.fault))
	}
	return words
}

func (c *crew) newLife(plans []plan) (*life, error) {
	namespace, err := world.namespace(c.ctx)
	if err != nil {
		return nil, err
	}
	l := &life{plans: plans, namespace: namespace, crew: c, password: canary + namespace, counted: map[effect]int{}, holds: map[effect]*hold{}}
	service := sandbox.New(sandbox.Options{Password: l.password, Logger: slog.New(slog.DiscardHandler)})
	server := httptest.NewServer(service)
	l.sandbox = control.New(server.URL)
	transport := &http.Transport{}
	l.service, err = faultproxy.New(faultproxy.Options{Target: server.URL, Transport: transport, Inject: l.judgeService, Epoch: c.current})
	if err != nil {
		return nil, err
	}
	l.close = func() {
		l.service.Close()
		transport.CloseIdleConnections()
		service.Close()
		server.Close()
	}
	l.names = names{records: map[string]string{}, ids: map[string]string{}}
	for _, mandate := range mandates {
		l.names.records[ledger.Name(ledger.NormalURL(l.service.URL), l.reference(mandate))] = mandate
	}
	return l, nil
}

func (l *life) reference(mandate string) string { return l.namespace + "." + mandate }

func (l *life) judgeAPI(r faultproxy.Request) faultproxy.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	what, about, ok := l.names.ofAPI(r)
	if !ok {
		return faultproxy.Fault{}
	}
	return l.course(r, what, about)
}

func (l *life) judgeService(r faultproxy.Request) faultproxy.Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	what, about := l.names.ofService(r)
	return l.course(r, what, about)
}

// course writes down what happens, and decides what becomes of it. The caller holds mu.
func (l *life) course(r faultproxy.Request, what, about string) faultproxy.Fault {
	kind := effect{what: what, about: about}
	l.counted[kind]++
	h := &happening{effect: effect{what, about, l.counted[kind]}, epoch: r.Epoch, at: time.Since(l.crew.began)}
	l.history = append(l.history, h)
	h.fault = l.faultAt(h.effect)
	course := faultproxy.Fault{OnResponse: func(answer faultproxy.Response) { l.answered(h, answer) }}
	if held := l.holds[h.effect]; held != nil {
		return held.course(l.crew.ctx, course)
	}
	switch h.fault {
	case killBefore:
		course.Drop, course.OnRequest = faultproxy.DropRequest, func() { l.crew.kill(h.epoch) }
	case killAfter:
		course.Drop, course.OnResponse = faultproxy.DropResponse, func(answer faultproxy.Response) { l.answered(h, answer); l.crew.kill(h.epoch) }
	case drop:
		course.Drop = faultproxy.DropResponse
	case late:
		course.OnRequest = func() { l.pause(settleDelay + settleDelay/4) }
	case twice:
		course.Duplicate = true
	case refuse, conflict, busy:
		course.Replace = refusal(h.fault, strings.HasPrefix(what, "service"))
		course.OnResponse = nil
	}
	return course
}

// answered takes down the server's answer. Whether it can be heard, nobody knows who kills: an operator that is killed just
// then counts as one that did not.
func (l *life) answered(h *happening, answer faultproxy.Response) {
	epoch := l.crew.current()
	l.mu.Lock()
	defer l.mu.Unlock()
	h.done, h.status = true, answer.Status
	h.heard = answer.Status > 0 && h.fault != drop && h.fault != killAfter && h.epoch == epoch
	if (h.effect.what == create || h.effect.what == poll) && answer.Status/100 == 2 {
		l.names.learn(h.effect.about, answer.Body)
	}
}

func (l *life) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-l.crew.ctx.Done():
	case <-timer.C:
	}
}

// refusal is an answer that the server did not give.
func refusal(f fault, atService bool) *faultproxy.Response {
	status := map[fault]int{refuse: http.StatusInternalServerError, conflict: http.StatusConflict, busy: http.StatusTooManyRequests}[f]
	if f == refuse && atService {
		status = http.StatusServiceUnavailable
	}
	reason := map[fault]string{refuse: "InternalError", conflict: "Conflict", busy: "TooManyRequests"}[f]
	answer := &faultproxy.Response{Status: status, Header: http.Header{"Content-Type": {"application/json"}}}
	answer.Body = fmt.Appendf(nil, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": "a fault"}`, status, reason)
	if atService {
		answer.Header.Set("Content-Type", "application/problem+json")
		answer.Body = fmt.Appendf(nil, `{"status": %d, "title": "a fault"}`, status)
	}
	if f == busy {
		answer.Header.Set("Retry-After", "1")
	}
	return answer
}

// trace is what happened, without personal data.
func (l *life) trace() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := make([]string, len(l.history))
	for i, h := range l.history {
		lines[i] = fmt.Sprintf("%4d %s", i+1, h)
	}
	return strings.Join(lines, "\n")
}

// happened are the effects so far.
func (l *life) happened() []happening {
	l.mu.Lock()
	defer l.mu.Unlock()
	happened := make([]happening, len(l.history))
	for i, h := range l.history {
		happened[i] = *h
	}
	return happened
}

func (l *life) faultAt(e effect) fault {
	for _, p := range l.plans {
		for _, s := range p {
			if s.effect == e {
				return s.fault
			}
		}
	}
	return ""
}

// struck tells how many faults of a plan found their effect.
func (l *life) struck(p plan) (n int) {
	for _, h := range l.happened() {
		if slices.ContainsFunc(p, func(s strike) bool { return s.effect == h.effect }) {
			n++
		}
	}
	return n
}

// until asks again and again, until nothing is missing any more.
func (l *life) until(ctx context.Context, missing func() string) error {
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		what := missing()
		if what == "" {
			return nil
		}
		if err := l.crew.trouble(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("after %s: %s", patience, what)
		case <-ticker.C:
		}
	}
}
