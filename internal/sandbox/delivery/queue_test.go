package delivery

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A hanging target must not block Enqueue or Close.
func TestATargetThatHangs(t *testing.T) {
	arrived := make(chan struct{}, workers)
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)

	q := NewQueue(time.Now, false)
	for range workers {
		q.Enqueue(Request{URL: server.URL})
		<-arrived
	}
	for range queueCapacity + 1 {
		q.Enqueue(Request{URL: server.URL})
	}
	log := q.Log()
	if last := log[len(log)-1]; last.State != control.Dropped {
		t.Errorf("the request that does not fit is %s", last.State)
	}
	if waiting := log[len(log)-2]; waiting.State != control.Queued {
		t.Errorf("the request before it is %s", waiting.State)
	}
	q.Close()
	for _, d := range q.Log() {
		if d.State != control.Dropped {
			t.Fatalf("after Close request %d is %s", d.Sequence, d.State)
		}
	}
}

// One that waits does not block others, and is dropped with the queue.
func TestADelay(t *testing.T) {
	arrived := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- r.URL.Path
	}))
	defer server.Close()
	q := NewQueue(time.Now, false)
	for range workers {
		q.Enqueue(Request{URL: server.URL + "/never", Delay: time.Hour})
	}
	q.Enqueue(Request{URL: server.URL + "/late", Delay: time.Second})
	q.Enqueue(Request{URL: server.URL + "/first"})
	if first, second := <-arrived, <-arrived; first != "/first" || second != "/late" {
		t.Errorf("%s arrived before %s", first, second)
	}
	q.Close()
	if state := q.Log()[0].State; state != control.Dropped {
		t.Errorf("what waits is %s after Close", state)
	}
}

func TestTargets(t *testing.T) {
	unreachable := httptest.NewServer(http.NotFoundHandler())
	unreachable.Close()
	cases := map[string]struct {
		url   string
		state control.DeliveryState
	}{
		"another machine":           {"http://192.0.2.1/", control.Blocked},
		"another machine over IPv6": {"http://[2001:db8::1]/", control.Blocked},
		"a name that nobody knows":  {"http://no..such..name/", control.Blocked},
		"nobody listens":            {unreachable.URL, control.Failed},
		"not a URL":                 {"http://127.0.0.1:x/", control.Failed},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			q := NewQueue(time.Now, false)
			defer q.Close()
			q.Enqueue(Request{URL: c.url})
			await.Until(t, func() (bool, string) { return q.Log()[0].State != control.Queued, "it is queued" })
			if got := q.Log()[0].State; got != c.state {
				t.Errorf("the request is %s, want %s", got, c.state)
			}
		})
	}
}
