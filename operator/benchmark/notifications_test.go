package benchmark_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

// eventsPerSecond is as many as the receiver accepts of one connection.
const eventsPerSecond = 50

const notificationToken = "a-token-of-the-sender-of-notifications"

// BenchmarkNotifications measures the time from an event at the service to the status of its Mandate, while the service
// delivers to the operator's receiver.
func BenchmarkNotifications(b *testing.B) {
	n, rounds := number(b, "NOTIFIED", "1000", "200"), number(b, "ROUNDS", "3", "1")
	f := newFixture(b, 0)
	figures.heading(fmt.Sprintf("%d Mandates with notifications, %d events a second", n, eventsPerSecond))
	namespace, address := f.Namespace(b), testenv.FreeAddress(b)
	f.check(f.kube.Create(b.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "notifications"},
		Type:       "idv.mandate.io/notifications",
		StringData: map[string]string{"token": notificationToken},
	}))
	f.connect(namespace, unlimited, hourly, func(s *v1alpha1.IdentityService) {
		s.Spec.Notifications = &v1alpha1.Notifications{SecretRef: v1alpha1.SecretReference{Name: "notifications"}}
	})
	workers := number(b, "WORKERS", "10", "10")
	operator := f.startOperator(namespace, workers, "--notification-bind-address="+address)
	operator.connected(namespace)
	wait := f.awaitReady(namespace, n)
	f.create(namespace, "many", n, 3)
	wait()
	f.subscribe("http://" + address + "/notifications/" + namespace + "/default/" + notificationToken)

	before := f.cost()
	e := &events{fixture: f, namespace: namespace, started: map[event]time.Time{}, seen: map[event]time.Time{}}
	took := e.play(n, rounds)
	e.report(took, f.cost().minus(before), operator)
	f.check(operator.Stop())
	b.ReportMetric(0, "ns/op")
}

// subscribe has the service deliver to a URL, once the receiver takes deliveries there.
func (f *fixture) subscribe(url string) {
	f.Helper()
	f.eventually("taking deliveries", func() bool {
		request, err := http.NewRequestWithContext(f.Context(), http.MethodPost, url, strings.NewReader("{}"))
		f.check(err)
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.StatusCode == http.StatusOK
	})
	service, err := idv.New(idv.Config{BaseURL: f.url, Credentials: idv.Credentials{
		Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword),
	}})
	f.check(err)
	_, err = service.SubscribeWebhook(f.Context(), idv.Subscription{URL: idv.Hide(url)})
	f.check(err)
}

// event is the round-th of a Mandate: its individuals accept the terms, and then one after the other finishes.
type event struct {
	mandate string
	round   int
}

// events are when each began at the service, and when a watch saw it in the status.
type events struct {
	*fixture
	namespace string

	mu            sync.Mutex
	started, seen map[event]time.Time
}

// play has events happen to n Mandates, in rounds, and waits until a watch has seen all of them.
func (e *events) play(n, rounds int) (took time.Duration) {
	e.Helper()
	ctx, cancel := context.WithCancel(await.Context(e.TB))
	defer cancel()
	mandates, done := e.watch(ctx, e.namespace), make(chan struct{})
	go func() {
		defer close(done)
		for mandate := range mandates {
			if e.see(mandate, time.Now()) == n*rounds {
				return
			}
		}
	}()
	failed := make(chan error, n*rounds)
	began, ticker := time.Now(), time.NewTicker(time.Second/eventsPerSecond)
	defer ticker.Stop()
	var playing sync.WaitGroup
	for i := range n * rounds {
		<-ticker.C
		next := event{fmt.Sprintf("many-%d", i%n), i / n}
		e.mu.Lock()
		e.started[next] = time.Now()
		e.mu.Unlock()
		playing.Go(func() { failed <- e.happen(ctx, next) })
	}
	took = time.Since(began)
	playing.Wait()
	close(failed)
	for err := range failed {
		e.check(err)
	}
	<-done
	if len(e.seen) < n*rounds {
		e.Fatalf("the statuses show %d of %d events", len(e.seen), n*rounds)
	}
	return took
}

func (e *events) happen(ctx context.Context, next event) error {
	play := control.Play{Reference: e.namespace + "." + next.mandate, Step: control.AcceptTerms}
	if next.round > 0 {
		play.Step = control.FinishChecks
		play.Individual = fmt.Sprintf("%s.applicant-%d", play.Reference, next.round-1)
	}
	_, err := e.sandbox.Play(ctx, play)
	return err
}

// see records which events a status shows, and returns the number of all that were seen. A status can show several at
// once.
func (e *events) see(mandate *v1alpha1.Mandate, now time.Time) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	shown := 0
	for _, individual := range mandate.Status.Individuals {
		if individual.ChecksPassed != nil && *individual.ChecksPassed > 0 {
			shown++
		}
	}
	for round := range shown + 1 {
		key := event{mandate.Name, round}
		_, played := e.started[key]
		if _, again := e.seen[key]; played && !again && (round > 0 || mandate.Status.State == "in progress") {
			e.seen[key] = now
		}
	}
	return len(e.seen)
}

func (e *events) report(took time.Duration, cost cost, operator worker) {
	e.Helper()
	var waits []time.Duration
	for key, at := range e.seen {
		waits = append(waits, at.Sub(e.started[key]))
	}
	slices.Sort(waits)
	n := len(waits)
	p50, p99 := waits[n/2], waits[max(n*99/100-1, 0)]
	figures.add("event at the service to status in a watch, p99", seconds(p99), "", atMost(p99.Seconds(), 2, "%.2f s"))
	figures.addFigure("the same, median and longest", seconds(p50)+", "+seconds(waits[n-1]))
	figures.addFigure("events, a second", fmt.Sprintf("%d, %.0f", n, float64(n)/took.Seconds()))
	each := func(total float64) string { return fmt.Sprintf("%.2f", total/float64(n)) }
	matched := operator.metric("idv_notification_deliveries_total", `result="matched"`)
	limited := operator.metric("idv_notification_deliveries_total", `result="limited"`)
	figures.addFigure("deliveries matched, and refused by the limit", fmt.Sprintf("%.0f, %.0f", matched, limited))
	figures.addFigure("GETs, API writes for each event", each(float64(cost.gets))+", "+each(float64(cost.writes)))
	e.ReportMetric(p50.Seconds(), "p50-s")
	e.ReportMetric(p99.Seconds(), "p99-s")
}
