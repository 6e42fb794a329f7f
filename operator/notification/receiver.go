package notification

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
)

const (
	// maxBody is how large a delivery may be, and bodyTimeout how long it may take.
	maxBody, bodyTimeout = 64 << 10, 5 * time.Second
	// refusalDelay is how long a refusal takes at least. So it does not show whether a Secret had to be read for it,
	// which is so only for services that exist.
	refusalDelay = 100 * time.Millisecond
	// maxWaiting is how many requests wait at once for a read of a Secret or for their refusal. All senders share them:
	// behind an Ingress, all have its address.
	maxWaiting = 100
)

// The results of deliveries.
const (
	resultMatched   = "matched"   // it names the application, an individual or the reference of a Mandate
	resultUnmatched = "unmatched" // it names none that is known here
	resultHandshake = "handshake" // the question of a service before it subscribes
	resultRefused   = "refused"   // no such connection or token, or too large, slow or not a delivery
	resultLimited   = "limited"   // too many of a connection, or without a good token while too many are refused
)

// Results are all of them.
var Results = []string{resultMatched, resultUnmatched, resultHandshake, resultRefused, resultLimited}

// delivery is what the service sent for a connection.
type delivery struct {
	service     connection.Key
	contentType string
	body        []byte
}

// Receiver takes deliveries: POST /notifications/NAMESPACE/NAME/TOKEN for an IdentityService, with - as the namespace
// for a ClusterIdentityService, or without the token and with the header Authorization: Bearer TOKEN. It answers 200
// before it does anything with them, 429 to too many, and the same 404 to everything else. While too many are refused,
// it answers everything without a good token with 429 at once.
type Receiver struct {
	tokens  *tokenSource
	waiting chan struct{} // has room for maxWaiting
	// accept takes a delivery for later, and never waits. It reports false if too many wait.
	accept  func(delivery) bool
	observe func(result string)
}

func newReceiver(tokens *tokenSource, accept func(delivery) bool, observe func(result string)) *Receiver {
	return &Receiver{tokens, make(chan struct{}, maxWaiting), accept, observe}
}

// ServeHTTP answers a delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	started := time.Now()
	key, limiter := r.authenticate(w, request, started)
	if limiter == nil {
		return
	}
	if !limiter.AllowN(r.tokens.clock.Now(), 1) {
		r.limit(w, refusalDelay)
		return
	}
	body, err := readBody(w, request)
	if err != nil {
		r.refuse(w, request, started)
		return
	}
	if answerHandshake(w, request, body) {
		r.observe(resultHandshake)
		return
	}
	received := delivery{service: key, contentType: request.Header.Get("Content-Type"), body: body}
	if coding := request.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		received.body = nil // it is not decoded: what is small here can be large there
	}
	if !r.accept(received) {
		r.limit(w, refusalDelay)
		return
	}
	w.WriteHeader(http.StatusOK) // some services count nothing else as delivered
}

// authenticate gives the connection whose token a request has, and the limiter of its deliveries; nil if it has none,
// and is answered.
//
// An answer shows when it was decided. If a Secret was read for it, there is a service. So an answer that does not wait
// for the delay waits for no read either, and is the same for a wrong token, for a service that does not exist, and for
// one whose Secret has not been read yet: 429. It shows only that too many requests are refused.
func (r *Receiver) authenticate(
	w http.ResponseWriter, request *http.Request, started time.Time,
) (connection.Key, *rate.Limiter) {
	key, token, valid := parse(request)
	select {
	case r.waiting <- struct{}{}:
		defer func() { <-r.waiting }()
		if limiter, good := r.tokens.check(key, token); valid && good {
			return key, limiter
		}
		r.refuse(w, request, started)
	default:
		if limiter, good := r.tokens.checkCached(key, token); valid && good {
			return key, limiter
		}
		w.Header().Set("Connection", "close")
		request.Body = http.NoBody // the server would wait for a sender that has announced a large one
		r.limit(w, 0)
	}
	return key, nil
}

func readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	setReadTimeout(w, bodyTimeout)
	return io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
}

// setReadTimeout bounds how long the rest of a request is read. The server reads it after an answer, too.
func setReadTimeout(w http.ResponseWriter, duration time.Duration) {
	// Not every ResponseWriter has deadlines. Those of the server do.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(duration))
}

// refuse gives the one answer to whatever is wrong.
func (r *Receiver) refuse(w http.ResponseWriter, request *http.Request, started time.Time) {
	r.observe(resultRefused)
	timer := time.NewTimer(refusalDelay - time.Since(started))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-request.Context().Done():
	}
	w.Header().Set("Connection", "close")
	setReadTimeout(w, refusalDelay)
	http.Error(w, http.StatusText(http.StatusNotFound), http.StatusNotFound)
}

// limit answers one of too many deliveries, and reads the rest of it for a while.
func (r *Receiver) limit(w http.ResponseWriter, rest time.Duration) {
	r.observe(resultLimited)
	setReadTimeout(w, rest)
	w.Header().Set("Retry-After", "1")
	http.Error(w, http.StatusText(http.StatusTooManyRequests), http.StatusTooManyRequests)
}

// invalidKey is that of a request that names no service.
var invalidKey = connection.Key{Kind: v1alpha1.ServiceKindIdentityService}

// parse finds out which connection a request is for, and its token.
func parse(request *http.Request) (key connection.Key, token string, valid bool) {
	rest, found := strings.CutPrefix(request.URL.EscapedPath(), "/notifications/")
	parts := strings.Split(rest, "/")
	if request.Method != http.MethodPost && !isHandshake(request) || !found || len(parts) < 2 || len(parts) > 3 {
		return invalidKey, "", false
	}
	for i, part := range parts {
		var err error
		if parts[i], err = url.PathUnescape(part); err != nil || i < 2 && strings.Contains(parts[i], "/") {
			return invalidKey, "", false
		}
	}
	key = connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: parts[0], Name: parts[1]}
	switch key.Namespace {
	case "":
		return invalidKey, "", false
	case receiver.ClusterNamespace:
		key.Kind, key.Namespace = v1alpha1.ServiceKindClusterIdentityService, ""
	}
	if len(parts) == 3 && parts[2] != "" {
		return key, parts[2], key.Name != ""
	}
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	return key, strings.TrimSpace(token), key.Name != "" && strings.EqualFold(scheme, "Bearer")
}
