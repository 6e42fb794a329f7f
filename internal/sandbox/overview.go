package sandbox

import (
	"net/http"
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

func (s *Service) getOverview(*http.Request) (any, error) {
	emails, applications, deliveries := s.account.Outbox(), s.account.Applications(), s.queue.Log()
	return control.Overview{
		Now:          s.clock.Now(),
		Autoplay:     s.player.get(),
		Emails:       newestFirst(emails),
		Applications: newestFirst(applications),
		Deliveries:   newestFirst(deliveries),
		Faults:       s.faults.all(),
		Dialects:     s.dialect.Get().Switches(),
		Statistics:   s.stats.get(),
		Totals:       control.Totals{Emails: len(emails), Applications: len(applications), Deliveries: len(deliveries)},
	}, nil
}

func newestFirst[T any](oldestFirst []T) []T {
	newest := append([]T{}, oldestFirst[max(0, len(oldestFirst)-control.OverviewLimit):]...)
	slices.Reverse(newest)
	return newest
}
