package chaos_test

import (
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/internal/test/testenv/faultproxy"
)

// An operator uses an API server that lags behind, because its connection to etcd is paused. Meanwhile users and
// another operator use an API server that does not. Then the connection resumes, and the operator meets the current
// state.
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
		act    func(*fixture)
		emails map[string]int
	}{
		"deleted and applied again": {
			act: func(f *fixture) {
				f.applyPlain("")
				id := f.ready()
				link.Pause()
				f.deletePlain()
				f.applyPlain("createBefore: 2099-01-01T00:00:00Z")
				f.waitStaleWrite()
				link.Resume()
				f.readyWith(id)
			},
			emails: map[string]int{"plain": 1},
		},
		"deleted, applied again, and bound by another operator": {
			act: func(f *fixture) {
				f.applyPlain("")
				id := f.ready()
				link.Pause()
				f.deletePlain()
				f.applyPlain("createBefore: 2099-01-01T00:00:00Z")
				other := f.startOperator(cluster.kubeconfig)
				f.readyWith(id)
				f.waitStaleWrite()
				link.Resume()
				f.waitCaughtUp(other)
				f.readyWith(id)
			},
			emails: map[string]int{"plain": 1},
		},
		"deleted, applied again with another reference, and seen by another operator": {
			act: func(f *fixture) {
				f.applyPlain("")
				f.ready()
				link.Pause()
				f.deletePlain()
				f.applyPlain("reference: new")
				other := f.startOperator(cluster.kubeconfig)
				f.waitApplicationExists()
				f.waitStaleWrite()
				link.Resume()
				f.check(other.Kill())
				f.waitApplicationExists()
			},
			emails: map[string]int{"plain": 1},
		},
		"created by another operator during the claim": {
			act: func(f *fixture) {
				paused := f.pauseAt(effect{"POST applicationrecords", plain, 1}, false)
				f.applyPlain("")
				f.waitPaused(paused)
				link.Pause()
				other := f.startOperator(cluster.kubeconfig)
				id := f.ready()
				paused.resume()
				link.Resume()
				f.waitCaughtUp(other)
				f.readyWith(id)
			},
			emails: map[string]int{"plain": 1},
		},
		"created by another operator, and the Mandate applied again, before a restart": {
			act: func(f *fixture) {
				paused := f.pauseAt(effect{"POST applicationrecords", plain, 1}, false)
				f.applyPlain("")
				f.waitPaused(paused)
				link.Pause()
				other := f.startOperator(cluster.kubeconfig)
				id := f.ready()
				f.check(other.Kill())
				f.deletePlain()
				f.applyPlain("")
				f.fleet.kill(f.fleet.current()) // its successor starts with the state of the lagging API server
				paused.resume()
				link.Resume()
				f.readyWith(id)
			},
			emails: map[string]int{"plain": 1},
		},
	}
	for name, c := range cases { // sequential: they share the link
		t.Run(name, func(t *testing.T) {
			defer link.Resume()
			f := newFixture(t, server)
			f.start()
			c.act(f)
			f.emails(c.emails)
		})
	}
}

// waitStaleWrite changes something at the service, and waits until the operator writes it into the Mandate that it has
// cached.
func (f *fixture) waitStaleWrite() {
	f.Helper()
	from := len(f.occurrences())
	_, err := f.sandbox.Play(f.Context(), control.Play{Reference: f.reference(plain), Step: control.AcceptTerms})
	f.check(err)
	f.wait("a write to the deleted Mandate", func() string {
		for _, o := range f.occurrences()[from:] {
			if o.effect.what == "PATCH mandates/status" {
				return ""
			}
		}
		return "there is none"
	})
}

// waitCaughtUp ends the other operator, and waits until the fleet's operator polls: then it knows the application.
func (f *fixture) waitCaughtUp(other *testenv.Process) {
	f.Helper()
	f.check(other.Kill())
	from := len(f.occurrences())
	f.wait("the operator to catch up", func() string {
		polls := 0
		for _, o := range f.occurrences()[from:] {
			if o.effect.what == poll && o.status/100 == 2 {
				polls++
			}
		}
		if polls < 2 {
			return "it is not polling"
		}
		return ""
	})
}
