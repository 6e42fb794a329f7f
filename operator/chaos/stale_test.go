package chaos_test

import (
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/testenv"
	"github.com/mandate-io/idv/internal/testenv/faultproxy"
)

// An operator works with an API server that lags behind: its link to etcd is frozen. Meanwhile people, and another operator,
// work with one that does not. Then the link thaws, and what the first operator believed or had begun meets what is so.
func TestStale(t *testing.T) {
	link, err := faultproxy.NewTCPProxy(env.EtcdAddress())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	server, err := env.StartAPIServer(link.Address)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		act    func(*stage)
		emails map[string]int
	}{
		"deleted and applied again": {
			act: func(s *stage) {
				s.applies("")
				id := s.ready()
				link.Pause()
				s.deletes()
				s.applies("name: Another")
				s.writesStale()
				link.Resume()
				if again := s.ready(); again != id {
					s.Errorf("the application is %d, and was %d", again, id)
				}
			},
			emails: map[string]int{"plain": 1},
		},
		"deleted, applied again, and bound by another operator": {
			act: func(s *stage) {
				s.applies("")
				id := s.ready()
				link.Pause()
				s.deletes()
				s.applies("reference: new")
				other := s.another(world.kubeconfig)
				second := s.ready()
				s.writesStale()
				if second == id {
					s.Errorf("two references have one application, %d", id)
				}
				link.Resume()
				s.caughtUp(other)
				if again := s.ready(); again != second {
					s.Errorf("the application is %d, and was %d", again, second)
				}
			},
			emails: map[string]int{"plain": 1, "new": 1},
		},
		"created by another operator while the claim is on its way": {
			act: func(s *stage) {
				held := s.hold(effect{"POST applicationrecords", plain, 1}, false)
				s.applies("")
				s.reached(held)
				link.Pause()
				other := s.another(world.kubeconfig)
				id := s.ready()
				held.release()
				link.Resume()
				s.caughtUp(other)
				if again := s.ready(); again != id {
					s.Errorf("the application is %d, and was %d", again, id)
				}
			},
			emails: map[string]int{"plain": 1},
		},
		"created by another operator, and the Mandate applied again, before a restart": {
			act: func(s *stage) {
				held := s.hold(effect{"POST applicationrecords", plain, 1}, false)
				s.applies("")
				s.reached(held)
				link.Pause()
				other := s.another(world.kubeconfig)
				id := s.ready()
				s.check(other.Kill())
				s.deletes()
				s.applies("")
				s.crew.kill(s.crew.current()) // its successor begins with what the frozen API server has
				held.release()
				link.Resume()
				if again := s.ready(); again != id {
					s.Errorf("the application is %d, and was %d", again, id)
				}
			},
			emails: map[string]int{"plain": 1},
		},
	}
	for name, c := range cases { // one after the other: they share the link
		t.Run(name, func(t *testing.T) {
			defer link.Resume()
			s := newStage(t, server)
			s.begins()
			c.act(s)
			s.emails(c.emails)
		})
	}
}

// writesStale lets something happen at the service that the operator writes into the Mandate as it knows it.
func (s *stage) writesStale() {
	s.Helper()
	from := len(s.happened())
	_, err := s.sandbox.Play(s.Context(), control.Play{Reference: s.reference(plain), Step: control.AcceptTerms})
	s.check(err)
	s.wait("a write to the Mandate that is gone", func() string {
		for _, h := range s.happened()[from:] {
			if h.effect.what == "PATCH mandates/status" {
				return ""
			}
		}
		return "there is none"
	})
}

// caughtUp ends the other operator, and waits until the stage's own polls: then it has seen which application there is.
func (s *stage) caughtUp(other *testenv.Process) {
	s.Helper()
	s.check(other.Kill())
	from := len(s.happened())
	s.wait("the operator to catch up", func() string {
		polls := 0
		for _, h := range s.happened()[from:] {
			if h.effect.what == poll && h.status/100 == 2 {
				polls++
			}
		}
		if polls < 2 {
			return "it does not poll"
		}
		return ""
	})
}
