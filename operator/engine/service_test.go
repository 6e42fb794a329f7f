package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
)

// cache has one IdentityService, or none.
type cache struct {
	client.Reader
	service *v1alpha1.IdentityService
	err     error
}

func (c cache) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if c.err == nil {
		c.service.DeepCopyInto(into.(*v1alpha1.IdentityService))
	}
	return c.err
}

func TestResolve(t *testing.T) {
	t.Parallel()
	key := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "default"}
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 3}}
	ready := engine.ServiceFacts{Exists: true, Known: true, Ready: true}
	for name, test := range map[string]struct {
		connection connection.Connection
		kind       v1alpha1.ServiceKind
		want       engine.ServiceFacts
	}{
		"ready": {
			connection: connection.Connection{UID: "1", Generation: 3, Ready: true},
			want:       ready,
		},
		"not ready": {
			connection: connection.Connection{UID: "1", Generation: 3},
			want:       engine.ServiceFacts{Exists: true, Known: true},
		},
		"made before an edit": {
			connection: connection.Connection{UID: "1", Generation: 2, Ready: true},
			want:       engine.ServiceFacts{Exists: true},
		},
		"made from another service": {
			connection: connection.Connection{UID: "2", Generation: 3, Ready: true},
			want:       engine.ServiceFacts{Exists: true},
		},
		"without ClusterRoleBindings": {
			kind: v1alpha1.ServiceKindClusterIdentityService,
			want: engine.ServiceFacts{Exists: true, Denied: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			services := &engine.Services{
				ServiceReader: connection.ServiceReader{Reader: cache{service: service}}, Connections: connection.NewRegistry(0),
			}
			nobodyListens, cancel := context.WithCancel(t.Context())
			cancel()
			services.Connections.Put(nobodyListens, key, test.connection)
			m := mandate("acme", "1")
			m.Spec.ServiceRef.Kind = test.kind
			var session engine.Session
			got, err := session.Resolve(t.Context(), services, m)
			if err != nil || got != test.want {
				t.Errorf("%+v, %v, want %+v", got, err, test.want)
			}
			if set := session.Connection.UID != ""; set != test.want.Known {
				t.Errorf("the connection is %+v", session.Connection)
			}
			services.Connections.Remove(nobodyListens, key)
			got, err = session.Resolve(t.Context(), services, m)
			if err != nil || got.Known || session.Connection.UID != "" {
				t.Errorf("after its end the connection is %+v: %+v, %v", session.Connection, got, err)
			}
		})
	}
}

func TestResolveFails(t *testing.T) {
	t.Parallel()
	unreachable := errors.New("no route to host")
	services := &engine.Services{
		ServiceReader: connection.ServiceReader{Reader: cache{err: unreachable}}, Connections: connection.NewRegistry(0),
	}
	var session engine.Session
	if got, err := session.Resolve(t.Context(), services, mandate("acme", "1")); !errors.Is(err, unreachable) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestUnusableReason(t *testing.T) {
	t.Parallel()
	notFound, notAllowed := v1alpha1.ReasonIdentityServiceNotFound, v1alpha1.ReasonIdentityServiceNotAllowed
	notReady := v1alpha1.ReasonIdentityServiceNotReady
	for _, test := range []struct {
		facts             engine.ServiceFacts
		unknown, unusable string
	}{
		{engine.ServiceFacts{}, notFound, notFound},
		{engine.ServiceFacts{Exists: true, Denied: true}, notAllowed, notAllowed},
		{engine.ServiceFacts{Exists: true}, notReady, notReady},
		{engine.ServiceFacts{Exists: true, Known: true}, "", notReady},
		{engine.ServiceFacts{Exists: true, Known: true, Ready: true}, "", ""},
	} {
		if got := test.facts.UnknownReason(); got != test.unknown {
			t.Errorf("%+v: nothing is known because %q, want %q", test.facts, got, test.unknown)
		}
		if got := test.facts.UnusableReason(); got != test.unusable {
			t.Errorf("%+v: not usable because %q, want %q", test.facts, got, test.unusable)
		}
	}
}

func TestTruncateText(t *testing.T) {
	t.Parallel()
	if got := engine.TruncateText(strings.Repeat("é", 300)); got != strings.Repeat("é", 256) {
		t.Errorf("%d bytes are left", len(got))
	}
	if got := engine.TruncateText("short"); got != "short" {
		t.Errorf("a short text became %q", got)
	}
}
