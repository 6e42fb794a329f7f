package connection

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mandate-io/idv/internal/client"
)

// A client gets a part of the budget, and the others get the rest.
func TestBudgetIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(8)
		greedy, other := budget.newShare(), budget.newShare()
		release, ok := greedy.acquire(t.Context(), 100) // as much as it may have
		if !ok {
			t.Fatal("the budget is used up at the beginning")
		}
		started := time.Now()
		if _, ok := greedy.acquire(t.Context(), 1); ok || time.Since(started) != maxBudgetWait {
			t.Errorf("it got more than its share (%v), after %s", ok, time.Since(started))
		}
		started = time.Now()
		releaseOther, ok := other.acquire(t.Context(), 2)
		if !ok || time.Since(started) > 0 {
			t.Fatalf("the other one got something: %v, after %s", ok, time.Since(started))
		}
		releaseOther()
		release()
		release, ok = greedy.acquire(t.Context(), 2)
		if !ok {
			t.Error("what was given back is gone")
		}
		release()
	})
}

// Those who wait are served one after another: a client that asks for much has one place in the queue.
func TestBudgetIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(4)
		hold, _ := budget.newShare().acquire(t.Context(), 1)
		all := []func(){hold}
		for range 3 {
			release, _ := budget.newShare().acquire(t.Context(), 1)
			all = append(all, release)
		}
		greedy, other := budget.newShare(), budget.newShare()
		var waiting sync.WaitGroup
		for range 20 {
			waiting.Go(func() {
				if release, ok := greedy.acquire(t.Context(), 1); ok {
					<-time.After(time.Second) // what the service takes to send the rest
					release()
				}
			})
		}
		synctest.Wait()
		started := time.Now()
		waiting.Go(func() {
			release, ok := other.acquire(t.Context(), 1)
			if !ok || time.Since(started) > 2*time.Second {
				t.Errorf("the other one got something: %v, after %s", ok, time.Since(started))
				return
			}
			release()
		})
		synctest.Wait()
		all[0]()
		waiting.Wait()
		for _, release := range all[1:] {
			release()
		}
	})
}

// budgetedClient is a client of a service that answers everything with a body, and what its connection may take.
func budgetedClient(t *testing.T, budget *Budget, body func() string) (*client.Client, *budgetShare) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := body()
		if strings.HasSuffix(r.URL.Path, "/token") {
			answer = `{"access_token":"token"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(service.Close)
	share := budget.newShare()
	c, err := client.New(client.Config{
		BaseURL:     service.URL,
		Credentials: client.Credentials{Username: "user", Password: client.Hide("password")}, RequestsPerSecond: -1,
		Wrap: func(next http.RoundTripper) http.RoundTripper { return &budgetTransport{share, next} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, share
}

// Only large responses to reads wait. Everything is given back, whatever becomes of a response.
func TestBudgetHoldsUpLargeReadsOnly(t *testing.T) {
	t.Parallel()
	const usual = `{"id":4711,"reference":"A-1"}`
	large := strings.Replace(usual, "{", `{"x":"`+strings.Repeat("x", client.SmallBody)+`",`, 1)
	body := usual
	c, share := budgetedClient(t, NewBudget(4*bodyCost), func() string { return body })
	if _, err := c.RetrieveReferences(t.Context()); err != nil { // the client knows then that its token is good
		t.Fatal(err)
	}
	body = large
	release, ok := share.acquire(t.Context(), bodyCost) // all that this client may have
	if !ok {
		t.Fatal("the budget is used up at the beginning")
	}
	created, err := c.CreateApplication(t.Context(), client.NewApplication{Reference: "A-1"})
	if err != nil || created.ID != 4711 {
		t.Errorf("created %v, %v", created, err)
	}
	if _, err := c.ArchiveApplication(t.Context(), 4711); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // it gets as far as the budget
	defer cancel()
	_, err = c.RetrieveApplication(ctx, 4711)
	if client.KindOf(err) != client.KindRateLimited || client.IsServiceFault(err) {
		t.Errorf("a large response does not wait: %v", err)
	}
	body = usual
	if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
		t.Errorf("a usual response waits: %v", err)
	}
	body = large
	release()
	for range 10 {
		if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
			t.Fatal(err)
		}
	}
	body = strings.Repeat(" ", 2<<20)
	for range 10 {
		if _, err := c.RetrieveApplication(t.Context(), 4711); client.KindOf(err) != client.KindTooLarge {
			t.Fatal(err)
		}
	}
	if release, ok = share.acquire(t.Context(), bodyCost); !ok {
		t.Fatal("the budget is used up at the end")
	}
	release()
}

// What a large report takes is given back by Close, or by an error.
func TestBudgetOfReports(t *testing.T) {
	t.Parallel()
	content := "%PDF" + strings.Repeat("x", 2*client.SmallBody)
	c, _ := budgetedClient(t, NewBudget(4*reportCost), func() string { return content })
	for range 3 {
		report, err := c.IndividualReport(t.Context(), 1, 1<<20)
		if err != nil || string(report.Content) != content {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err = c.IndividualReport(ctx, 1, 1<<20); client.KindOf(err) != client.KindRateLimited {
			t.Errorf("another report does not wait: %v", err)
		}
		cancel()
		report.Close()
		if _, err = c.IndividualReport(t.Context(), 1, client.SmallBody+1); client.KindOf(err) != client.KindTooLarge {
			t.Error(err)
		}
	}
}

// tricklingBody is a large body that sends nothing any more after its beginning.
type tricklingBody struct {
	left   int
	closed chan struct{}
}

// Read implements io.Reader.
func (b *tricklingBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		<-b.closed
		return 0, http.ErrBodyReadAfterClose
	}
	n := min(b.left, len(p))
	b.left -= n
	return n, nil
}

// Close implements io.Closer.
func (b *tricklingBody) Close() error {
	close(b.closed)
	return nil
}

// A large response that takes too long is left: others wait for what it takes of the Budget.
func TestASlowLargeBodyIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		body := &budgetBody{
			ReadCloser: &tricklingBody{left: client.SmallBody + 2, closed: make(chan struct{})}, ctx: t.Context(),
			share: NewBudget(4 * bodyCost).newShare(), cost: bodyCost,
		}
		read, err := io.ReadAll(body)
		if took := time.Since(started); err == nil || len(read) != client.SmallBody+2 || took != largeBodyTime {
			t.Errorf("after %s: %d bytes, %v", took, len(read), err)
		}
	})
}
