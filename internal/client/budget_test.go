package client

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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

// large is an application whose body is larger than what needs no budget.
func large() string {
	return `{"id":4711,"x":"` + strings.Repeat("x", smallBody) + `"}`
}

func TestBudgetHoldsUpLargeReadsOnly(t *testing.T) {
	body := large()
	s := newService(t, func(w http.ResponseWriter, r *http.Request) { answers(http.StatusOK, body)(w, r) }, false)
	c := s.client(t, func(c *Config) { c.Budget = NewBudget(4 * bodyCost) })
	release, ok := c.budget.acquire(t.Context(), bodyCost) // all that this client may have
	if !ok {
		t.Fatal("the budget is used up at the beginning")
	}
	if created, err := c.CreateApplication(t.Context(), someNewApplication()); err != nil || created.ID != 4711 {
		t.Errorf("created %v, %v", created, err)
	}
	if _, err := c.ArchiveApplication(t.Context(), 4711); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // it gets as far as the budget
	defer cancel()
	_, err := c.RetrieveApplication(ctx, 4711)
	expectFailure(t, err, Unknown, KindRateLimited)
	body = `{"id":4711}`
	if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
		t.Errorf("a usual response waits: %v", err)
	}
	body = large()
	release()
	for range 10 { // everything is given back
		if _, err := c.RetrieveApplication(t.Context(), 4711); err != nil {
			t.Fatal(err)
		}
	}
	body = strings.Repeat(" ", 2*maxJSON)
	for range 10 {
		_, err := c.RetrieveApplication(t.Context(), 4711)
		expectFailure(t, err, Unknown, KindTooLarge)
	}
	if release, ok = c.budget.acquire(t.Context(), bodyCost); !ok {
		t.Error("the budget is used up at the end")
	} else {
		release()
	}
}

// What a large report takes is given back by Close, or by an error.
func TestBudgetOfReports(t *testing.T) {
	s := newService(t, answersWith("application/pdf", strings.Repeat("x", 2*smallBody), true), false)
	c := s.client(t, func(c *Config) { c.Budget = NewBudget(4 * reportCost) })
	for range 3 {
		var got strings.Builder
		report, err := c.IndividualReport(t.Context(), 1, &got, maxJSON)
		if err != nil || got.Len() != 2*smallBody {
			t.Fatalf("%d bytes, %v", got.Len(), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_, err = c.IndividualReport(ctx, 1, &strings.Builder{}, maxJSON)
		expectFailure(t, err, Unknown, KindRateLimited)
		cancel()
		report.Close()
		_, err = c.IndividualReport(t.Context(), 1, &got, smallBody+1)
		expectFailure(t, err, Unknown, KindTooLarge)
	}
}
