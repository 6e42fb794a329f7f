package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

const (
	// loadInterval is the time between two new Mandates.
	loadInterval = 200 * time.Millisecond
	// createDelay is how long the service keeps the answers of creates back, so that some are always under way.
	createDelay = 1500 * time.Millisecond
)

// load is a stream of new Mandates, each of one person with an address of her own.
type load struct {
	stop  context.CancelFunc
	ended chan struct{}
	err   error // once it has ended
}

// end stops it, and waits until it has ended.
func (l *load) end() error {
	l.stop()
	<-l.ended
	return l.err
}

// startLoad creates Mandates until the load stops, and waits until creates are under way at the service.
func (s *scenario) startLoad(ctx context.Context) error {
	err := s.sandbox.Fault(ctx, control.Fault{
		Operation: control.CreateApplication, Kind: control.Slow, AfterWork: true,
		Times: control.Always, DelayMillis: createDelay.Milliseconds(),
	})
	if err != nil {
		return err
	}
	creating, stop := context.WithCancel(ctx)
	started := &load{stop: stop, ended: make(chan struct{})}
	s.load = started
	go func() {
		defer close(started.ended)
		started.err = s.createMandates(creating)
	}()
	return until(ctx, "creates are under way", func(ctx context.Context) (bool, string) {
		underWay, err := s.createsUnderWay(ctx)
		return underWay > 2, fmt.Sprint(underWay, err)
	})
}

// createsUnderWay is how many creates the service has got and not answered.
func (s *scenario) createsUnderWay(ctx context.Context) (int64, error) {
	statistics, err := s.sandbox.Stats(ctx)
	if err != nil {
		return 0, err
	}
	creates := statistics.Operations[control.CreateApplication]
	underWay := creates.Requests
	for _, answers := range creates.Answers {
		underWay -= answers
	}
	return underWay, nil
}

func (s *scenario) createMandates(ctx context.Context) error {
	ticker := time.NewTicker(loadInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		name := fmt.Sprintf("load-%04d", s.people)
		mandate := &v1alpha1.Mandate{
			ObjectMeta: metav1.ObjectMeta{Namespace: readmeNamespace, Name: name},
			Spec: v1alpha1.MandateSpec{
				MandateType: v1alpha1.MandateTypeSelector{Code: "kyc"},
				Individuals: []v1alpha1.Individual{{Name: "owner", Email: name + emailHost}},
			},
		}
		// The stop must not leave a request whose result nobody knows.
		if err := s.cluster.Create(context.WithoutCancel(ctx), mandate); err != nil {
			s.fail(err)
			return err
		}
		s.people++
	}
}

// settled stops the load, and waits until every Mandate is Ready. An application whose answer got lost is found by its
// next notification: the individual makes it happen. It returns the
// names of their Mandates.
func (s *scenario) settled(ctx context.Context) (found []string, err error) {
	if err := errors.Join(s.load.end(), s.sandbox.ClearFaults(ctx)); err != nil {
		return nil, err
	}
	played := map[string]bool{}
	err = until(ctx, "every Mandate is Ready", func(ctx context.Context) (bool, string) {
		mandates, err := s.mandates(ctx)
		if err != nil {
			return false, err.Error()
		}
		for i := range mandates {
			if err := s.playUnknown(ctx, &mandates[i], played); err != nil {
				return false, err.Error()
			}
		}
		waiting := notReady(mandates)
		return len(mandates) == s.people && len(waiting) == 0, fmt.Sprintf("%d Mandates, waiting %q", len(mandates), waiting)
	})
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(played)), s.checkApplications(ctx)
}

// playUnknown plays the individual of a Mandate whose create had no answer, once.
func (s *scenario) playUnknown(ctx context.Context, mandate *v1alpha1.Mandate, played map[string]bool) error {
	ready := meta.FindStatusCondition(mandate.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || played[mandate.Name] || mandate.Status.ApplicationID != nil {
		return nil
	}
	if ready.Reason != v1alpha1.ReasonSettling && ready.Reason != v1alpha1.ReasonOutcomeUnknown {
		return nil
	}
	_, err := s.sandbox.Play(ctx, control.Play{Reference: mandate.Status.Reference, Step: control.AcceptTerms})
	if missing := (*control.Error)(nil); errors.As(err, &missing) && missing.Status == 404 {
		return nil // the create has not reached the service
	}
	if err == nil {
		played[mandate.Name] = true
	}
	return err
}
