package service

import (
	"cmp"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/connection"
)

// secretReader is an API server that has one Secret, and stamps it before each read, as a replicator does.
type secretReader struct {
	client.Reader
	secret corev1.Secret
	reads  int
	gone   bool
}

func (r *secretReader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if r.gone {
		return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
	}
	r.reads++
	r.secret.ResourceVersion = fmt.Sprint(r.reads)
	r.secret.Annotations = map[string]string{"replicated-at": fmt.Sprint(r.reads)}
	r.secret.Type = "idv.mandate.io/credentials"
	r.secret.DeepCopyInto(into.(*corev1.Secret))
	return nil
}

// fixture is a Reconciler with one IdentityService, and the service that it leads to.
type fixture struct {
	*testing.T
	*Reconciler
	*secretReader
	service *v1alpha1.IdentityService
	e       *entry
	// logins and requests count what arrives; busy answers requests with a Retry-After, broken with an error.
	logins, requests atomic.Int64
	busy, broken     atomic.Bool
	// answer, if set, answers everything.
	answer atomic.Pointer[http.HandlerFunc]
}

// newFixture starts a service at which the password is "right".
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, secretReader: &secretReader{}}
	server := httptest.NewTLSServer(f)
	t.Cleanup(server.Close)
	f.Reconciler = NewReconciler(Config{Live: f.secretReader, Connections: connection.NewRegistry(0)})
	f.e = f.entry(testKey)
	t.Cleanup(func() { f.e.forget() })
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	f.service = &v1alpha1.IdentityService{
		ObjectMeta: metav1.ObjectMeta{Namespace: testKey.Namespace, Name: testKey.Name, UID: "1"},
		Spec: v1alpha1.IdentityServiceSpec{ServiceSettings: v1alpha1.ServiceSettings{
			BaseURL: server.URL, CABundle: string(bundle), RequestsPerSecond: 5,
		}},
	}
	return f
}

func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	login := strings.HasSuffix(r.URL.Path, "/token")
	if login {
		f.logins.Add(1)
	} else {
		f.requests.Add(1)
	}
	if answer := f.answer.Load(); answer != nil {
		(*answer)(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if login {
		if r.FormValue("password") != "right" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"access_token": "t", "expires_in": 3600}`)
		return
	}
	if f.broken.Load() {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if f.busy.Load() {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	_, _ = io.WriteString(w, `{"mandate_types": [{"id": 1, "name": "KYC", "code": "kyc"}]}`)
}

func (f *fixture) password(password string) {
	f.secret.Data = map[string][]byte{"username": []byte("u"), "password": []byte(password)}
}

// reconcile connects, and probes until the end.
func (f *fixture) reconcile() (reason string) {
	f.Helper()
	problem, err := f.connect(f.Context(), f.service, f.e)
	if err != nil {
		f.Fatal(err)
	}
	if problem == "" {
		f.probe(f.Context(), testKey, f.e)
		if f.e.probe != nil {
			<-f.e.probe.done
			f.e.takeProbe(f.Context())
		}
	}
	return cmp.Or(problem, f.e.reason())
}

func (f *fixture) wants(reason string, logins int64) {
	f.Helper()
	if got, n := f.reconcile(), f.logins.Load(); got != reason || n != logins {
		f.Errorf("%s after %d logins, want %s after %d", got, n, reason, logins)
	}
}

// A Secret that changes all the time, but not in its values, is one login with a wrong password. So is an edit of the
// service.
func TestHoldOffOutlivesTheClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("wrong")
	settings := &f.service.Spec.ServiceSettings
	for i := range 20 {
		f.wants(v1alpha1.ReasonCredentialsInvalid, 1)
		f.secret.Data["other"] = []byte(fmt.Sprint(i)) // a key that is not used
	}
	for i := range 20 {
		settings.RequestsPerSecond++
		settings.Polling.MinIntervalSeconds++
		settings.CABundle += "\n"
		f.service.UID += "1" // a service that is replaced by force
		f.wants(v1alpha1.ReasonCredentialsInvalid, 1)
		if i == 10 {
			f.secret.Data["username"] = nil
			f.wants(v1alpha1.ReasonSecretInvalid, 1)
			f.password("wrong")
		}
	}
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	f.remove(nobodyListens, testKey)
	f.e = f.entry(testKey) // the service is deleted and applied again
	f.wants(v1alpha1.ReasonCredentialsInvalid, 1)
	f.password("also wrong")
	f.wants(v1alpha1.ReasonCredentialsInvalid, 2)
	for _, password := range []string{"wrong", "also wrong", "wrong"} {
		f.password(password)
		f.wants(v1alpha1.ReasonCredentialsInvalid, 2)
	}
	f.password("right")
	f.wants(v1alpha1.ReasonConnected, 3)
	used := f.e.client
	f.secret.Data["other"] = nil
	settings.Polling.MaxIntervalSeconds++
	settings.ReferencePrefix = "eu."
	f.wants(v1alpha1.ReasonConnected, 3)
	if f.e.client != used {
		t.Error("another client, although nothing changed that a client is made from")
	}
}

// A Retry-After outlives an edit of the service, and the service is as usable as before.
func TestRetryAfterOutlivesTheClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.wants(v1alpha1.ReasonConnected, 1)
	f.busy.Store(true)
	began := time.Now()
	if _, err := f.e.client.RetrieveReferences(t.Context()); idv.RetryAfterOf(err) == 0 {
		t.Fatal(err)
	}
	used, requests := f.e.client, f.requests.Load()
	for range 10 {
		f.service.Spec.RequestsPerSecond++
		f.wants(v1alpha1.ReasonConnected, 1)
	}
	if delay := f.e.client.RateLimitDelay(); f.e.client == used || delay < time.Minute-time.Since(began) {
		t.Errorf("the next request waits %s", delay)
	}
	if got := f.requests.Load() - requests; got != 0 {
		t.Errorf("%d requests during the Retry-After", got)
	}
}

// What an edit does not give back: tokens of the rate limit.
func TestRateLimitOutlivesTheClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.service.Spec.RequestsPerSecond = 1
	f.wants(v1alpha1.ReasonConnected, 1)
	f.service.Spec.Transitions.CompleteMethod = v1alpha1.TransitionMethod("PUT")
	if _, err := f.connect(t.Context(), f.service, f.e); err != nil {
		t.Fatal(err)
	}
	if delay := f.e.client.RateLimitDelay(); delay <= 0 {
		t.Error("a new client has a full burst")
	}
}

// The digest tells keys and values apart, and another process has others.
func TestDigest(t *testing.T) {
	t.Parallel()
	r := NewReconciler(Config{Connections: connection.NewRegistry(0)})
	of := func(pairs ...string) digest {
		secret := corev1.Secret{Data: map[string][]byte{}}
		for i := 0; i < len(pairs); i += 2 {
			secret.Data[pairs[i]] = []byte(pairs[i+1])
		}
		return r.digest(&secret)
	}
	base := of("username", "ab", "password", "c")
	for name, other := range map[string]digest{
		"shifted": of("username", "a", "password", "bc"),
		"swapped": of("username", "c", "password", "ab"),
		"moved":   of("client_id", "ab", "client_secret", "c"),
	} {
		if other == base {
			t.Errorf("%s: the same digest", name)
		}
	}
	first := base
	r = NewReconciler(Config{Connections: connection.NewRegistry(0)})
	if of("username", "ab", "password", "c") == first {
		t.Error("two processes have the same digest")
	}
}

// With a namespace, the Secret is deleted first. The operator may notice that before it sees the service deleted.
// What Mandates still have to do is done all the same, and nothing is done without a deletion.
func TestSecretDeletedFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.secret.Data = map[string][]byte{"username": []byte("jane"), "password": []byte("right")}
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	connected := func() (reason string, ready bool) {
		reason, err := f.connect(t.Context(), f.service, f.e)
		if err != nil {
			t.Fatal(err)
		}
		f.e.connected = true
		f.publish(nobodyListens, testKey, f.service, f.e, reason == "", 0)
		published, _ := f.config.Connections.Get(testKey)
		return reason, published.Ready
	}
	if reason, ready := connected(); reason != "" || !ready {
		t.Fatalf("with the Secret: %q, ready %v", reason, ready)
	}
	used := f.e.client
	f.gone = true
	if reason, ready := connected(); reason != v1alpha1.ReasonSecretNotFound || ready {
		t.Errorf("without the Secret: %q, ready %v", reason, ready)
	}
	f.service.DeletionTimestamp = new(metav1.Now())
	if reason, ready := connected(); reason != "" || !ready || f.e.client != used {
		t.Errorf("when the service is deleted, too: %q, ready %v", reason, ready)
	}
}

// A new password is the same account. A user name or client id that is sent is not.
func TestAccountOfCredentials(t *testing.T) {
	t.Parallel()
	of := func(grant v1alpha1.GrantType, username, password, clientID string) connection.Account {
		settings := &v1alpha1.ServiceSettings{TokenRequest: v1alpha1.TokenRequest{GrantType: grant}}
		return accountOf(settings, &corev1.Secret{Data: map[string][]byte{
			"username": []byte(username), "password": []byte(password), "client_id": []byte(clientID),
		}})
	}
	const byPassword, byClient = v1alpha1.GrantTypePassword, v1alpha1.GrantTypeClientCredentials
	first := of(byPassword, "jane", "1", "web")
	for name, c := range map[string]struct {
		account connection.Account
		same    bool
	}{
		"another password":             {of(byPassword, "jane", "2", "web"), true},
		"another user name":            {of(byPassword, "joe", "1", "web"), false},
		"another client id":            {of(byPassword, "jane", "1", "app"), false},
		"the same letters":             {of(byPassword, "janew", "1", "eb"), false},
		"the user name that is unsent": {of(byClient, "jane", "1", "web"), false},
	} {
		if (c.account == first) != c.same {
			t.Errorf("%s: the same account: %t, want %t", name, !c.same, c.same)
		}
	}
	otherURL := accountOf(&v1alpha1.ServiceSettings{BaseURL: "https://other.example.com"}, &corev1.Secret{
		Data: map[string][]byte{"username": []byte("jane"), "client_id": []byte("web")},
	})
	if otherURL == first {
		t.Error("at another base URL, the account is the same")
	}
	if of("", "jane", "1", "web") != first {
		t.Error("the default grant type makes another account")
	}
	if of(byClient, "jane", "1", "web") != of(byClient, "joe", "1", "web") {
		t.Error("a user name that is not sent makes another account")
	}
}

// What a tenant asks for is bounded by what the platform allows, and less than that stays as it is.
func TestCeilings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.password("right")
	f.config.MaxRequestsPerSecond, f.config.MinPollInterval = 3, time.Minute
	nobodyListens, cancel := context.WithCancel(t.Context())
	cancel()
	settings := &f.service.Spec.ServiceSettings
	for _, tc := range []struct {
		asked, allowed    int32
		interval, longest int32
		wantMin, wantMax  time.Duration
	}{
		{asked: 5, allowed: 3, interval: 1, longest: 2, wantMin: time.Minute, wantMax: time.Minute},
		{asked: 2, allowed: 2, interval: 90, longest: 600, wantMin: 90 * time.Second, wantMax: 10 * time.Minute},
	} {
		settings.RequestsPerSecond = tc.asked
		settings.Polling = v1alpha1.Polling{MinIntervalSeconds: tc.interval, MaxIntervalSeconds: tc.longest}
		if reason := f.reconcile(); reason != v1alpha1.ReasonConnected {
			t.Fatal(reason)
		}
		f.publish(nobodyListens, testKey, f.service, f.e, true, 0)
		published, _ := f.config.Connections.Get(testKey)
		if got := f.requestsPerSecond(settings); got != tc.allowed || f.e.made.requestsPerSecond != tc.allowed {
			t.Errorf("%d requests a second of %d", got, tc.asked)
		}
		if published.MinPoll != tc.wantMin || published.MaxPoll != tc.wantMax {
			t.Errorf("polls every %s to %s, want %s to %s", published.MinPoll, published.MaxPoll, tc.wantMin, tc.wantMax)
		}
	}
}
