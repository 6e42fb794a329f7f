package operator_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// sender sends deliveries from an address of its own until the test ends them.
type sender struct {
	*world
	client   *http.Client
	dialer   *net.Dialer
	statuses [600]atomic.Int64
	failed   atomic.Int64
}

func (w *world) sender(address string) *sender {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}
	w.Cleanup(transport.CloseIdleConnections)
	return &sender{world: w, dialer: dialer, client: &http.Client{Transport: transport}}
}

// flood posts from many connections, as fast as the answers come.
func (s *sender) flood(
	ctx context.Context, running *sync.WaitGroup, connections int, next func(random *rand.Rand) *http.Request,
) {
	for worker := range connections {
		running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for ctx.Err() == nil {
				response, err := s.client.Do(next(random).WithContext(ctx))
				if err != nil && ctx.Err() == nil {
					s.failed.Add(1) // closed by the receiver
				}
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				s.statuses[response.StatusCode].Add(1)
			}
		})
	}
}

// holdOpen opens connections that never get to the end of a header.
func (s *sender) holdOpen(ctx context.Context, running *sync.WaitGroup, url string) {
	address, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	for range 60 {
		running.Go(func() {
			for ctx.Err() == nil {
				connection, err := s.dialer.DialContext(ctx, "tcp", address)
				if err != nil {
					continue
				}
				stop := context.AfterFunc(ctx, func() { connection.Close() })
				_, _ = io.WriteString(connection, "POST / HTTP/1.1\r\nHost: a\r\nX-Slow: ")
				_, _ = io.Copy(io.Discard, connection) // until the receiver closes it
				stop()
				connection.Close()
			}
		})
	}
}

// answered counts the answers with a status.
func (s *sender) answered(status int) int64 { return s.statuses[status].Load() }

func delivered(url, encoding, body string) *http.Request {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body)) //nolint:noctx // it gets one later
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if encoding != "" {
		request.Header.Set("Content-Encoding", encoding)
	}
	return request
}

func bomb() string {
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	_, _ = w.Write(make([]byte, 32<<20))
	_ = w.Close()
	return small.String()
}

// Whatever is sent, with a good token or without, the operator reads little, stays small, and creates for others in
// time. It measures time, so it is not parallel.
func TestHostileSenders(t *testing.T) {
	const (
		maxReads       = 30 // in ten seconds: of one Mandate that is named, and of ids that may be the other one's
		maxResidentMiB = 256
		raceMemory     = 3 // how many times as much the race detector takes
	)
	metrics := testenv.FreeAddress(t)
	w, url := notified(t, "--metrics-bind-address="+metrics, "--metrics-secure=false")
	w.newService("other", fmt.Sprintf("baseURL: %q, requestsPerSecond: 100", w.url))
	w.mandate("acme", "{}")
	known := *w.ready("acme").Status.ApplicationID
	w.check(w.sandbox.SetDialect(w.Context(), "deliveries", "never"))
	w.fault(answerLost)
	w.mandate("victim", "{}")
	w.condition("victim", v1alpha1.ConditionCreated, metav1.ConditionUnknown, v1alpha1.ReasonOutcomeUnknown)

	began, reads := time.Now(), w.requests(control.RetrieveApplication)
	ctx, stop := context.WithCancel(w.Context())
	var running sync.WaitGroup
	// They have one address, as behind an Ingress.
	good, hostile := w.sender("127.0.0.2"), w.sender("127.0.0.2")
	wrong, slow := w.sender("127.0.0.2"), w.sender("127.0.0.2")
	bodies := []struct{ encoding, body string }{
		{"", fmt.Sprintf(`{"id":%d}`, known)},
		{"", strings.Repeat(`{"a":`, 10_000)},
		{"", strings.Repeat("x", 64<<10+1)},
		{"gzip", bomb()},
		{"", fmt.Sprintf(`{"reference":"%s.victim","id":[%s]}`, w.namespace, "1000001,1000002,1000003,1000004,1000005")},
	}
	hostile.flood(ctx, &running, 8, func(random *rand.Rand) *http.Request {
		if i := random.IntN(8); i < len(bodies) {
			return delivered(url, bodies[i].encoding, bodies[i].body)
		}
		return delivered(url, "", fmt.Sprintf(`{"application_id":%d}`, random.Int64N(1<<40)))
	})
	good.flood(ctx, &running, 1, func(*rand.Rand) *http.Request {
		return delivered(url, "", fmt.Sprintf(`{"id":%d}`, known))
	})
	wrong.flood(ctx, &running, 60, func(random *rand.Rand) *http.Request {
		return delivered(url[:len(url)-1]+strconv.Itoa(random.IntN(10)), "", fmt.Sprintf(`{"id":%d}`, known))
	})
	slow.holdOpen(ctx, &running, url)
	w.createInTime("serviceRef: {name: other}")
	w.eventually(func() (bool, string) {
		accepted, limited := hostile.answered(200), hostile.answered(429)
		unknown := hostile.answered(404)
		return min(accepted, limited, unknown) > 0, fmt.Sprintf("the flood with a good token proves little: "+
			"%d times 200, %d times 429, %d times 404", accepted, limited, unknown)
	})
	text := w.scrape(metrics)
	stop()
	running.Wait()

	limit := maxReads * (1 + int64(time.Since(began)/(10*time.Second)))
	if n := w.requests(control.RetrieveApplication) - reads - newMandates; n > limit {
		t.Errorf("%d reads because of notifications, want %d at most", n, limit)
	}
	if lost := good.failed.Load() + good.answered(404); lost > 0 || good.answered(200) == 0 {
		t.Errorf("%d good deliveries are not answered or refused, %d are taken", lost, good.answered(200))
	}
	if n := wrong.answered(200); n > 0 || wrong.answered(404) == 0 {
		t.Errorf("%d deliveries with a wrong token were accepted, %d refused", n, wrong.answered(404))
	}
	maxResident := float64(maxResidentMiB << 20)
	if testenv.RaceDetector() {
		maxResident *= raceMemory
	}
	_, after, _ := strings.Cut(text, "\nprocess_resident_memory_bytes ")
	number, _, _ := strings.Cut(after, "\n")
	if resident, err := strconv.ParseFloat(number, 64); err != nil || resident > maxResident {
		t.Errorf("the resident memory is %s bytes (%v), want %.0f at most", number, err, maxResident)
	}
	if m := w.get("victim"); m.Status.ApplicationID != nil {
		t.Errorf("the victim is bound to %d", *m.Status.ApplicationID)
	}
	w.emails(2 + newMandates)
}
