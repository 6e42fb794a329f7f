package operator_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox"
)

// The operator does not even connect to a host that its flags do not allow, also if the IdentityService named another
// one before.
func TestAllowedHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	var connections atomic.Int64
	other := httptest.NewUnstartedServer(http.NotFoundHandler())
	other.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	other.Start()
	t.Cleanup(other.Close)

	w.connect()
	w.newService("other", "baseURL: "+other.URL)
	w.start("--allowed-hosts=idv.example.com," + strings.TrimPrefix(w.url, "http://"))
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
	w.serviceIs("other", metav1.ConditionFalse, v1alpha1.ReasonBaseURLNotAllowed)
	w.mandate("acme", "{}")
	w.ready("acme")
	w.mandate("globex", "{serviceRef: {name: other}}")
	w.condition("globex", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)

	w.apply("{kind: IdentityService, metadata: {name: default}, spec: {credentialsSecretRef: {name: idv}, baseURL: " +
		other.URL + "}}")
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonBaseURLNotAllowed)
	w.mandate("initech", "{}")
	w.condition("initech", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonIdentityServiceNotReady)
	w.connect()
	w.ready("initech")
	if n := connections.Load(); n > 0 {
		t.Errorf("the operator connected %d times to a host that is not allowed", n)
	}
}

// As deployed, the operator sends nothing over http to what listens beside it.
func TestLoopbackHTTPNotAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Options{})
	w.connect()
	w.start("--allow-loopback-http=false")
	w.serviceReady(metav1.ConditionFalse, v1alpha1.ReasonBaseURLNotAllowed)
	w.check(w.operator.Stop())
	w.start()
	w.serviceReady(metav1.ConditionTrue, v1alpha1.ReasonConnected)
}
