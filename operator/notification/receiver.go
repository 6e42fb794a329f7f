// Package notification receives what the service notifies about, and has the applications read that it names.
//
// A delivery is a hint: neither its shape nor its sender is known. The receiver, of which every replica has one, writes
// annotations, and the leader acts on them.
package notification

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
)

const (
	// maxBody is how large a delivery may be, and bodyTimeout how long it may take.
	maxBody, bodyTimeout = 64 << 10, 5 * time.Second
	// maxRate is how many deliveries of a connection are taken each second, and maxReading how many of a namespace are
	// read at a time: four megabytes.
	maxRate, maxReading = 50, 64
)

// The results of deliveries.
const (
	resultMatched   = "matched"   // it names the application, an individual or the reference of a Mandate
	resultUnmatched = "unmatched" // it names none that is known here
	resultHandshake = "handshake" // the question of a service before it subscribes
	resultRefused   = "refused"   // no such connection or token, or too large, slow or not a delivery
	resultLimited   = "limited"   // too many of a connection, or of a namespace at a time
)

// Results are all of them.
var Results = []string{resultMatched, resultUnmatched, resultHandshake, resultRefused, resultLimited}

// deliver takes a delivery, and says which result it has.
type deliver func(key connection.Key, contentType string, body []byte) (result string)

// Receiver takes deliveries: POST /notifications/NAMESPACE/NAME/TOKEN for an IdentityService, with - as the namespace
// for a ClusterIdentityService, or without the token and with the header Authorization: Bearer TOKEN. It answers 200
// before it does anything with them, 429 to too many, and the same 404 to everything else.
type Receiver struct {
	accounts
	deliver  deliver
	observe  func(result string)
	limiters perKey[connection.Key, *rate.Limiter]
	reading  perKey[string, *semaphore.Weighted] // by namespace
}

func newReceiver(of accounts, deliver deliver, observe func(result string)) *Receiver {
	return &Receiver{
		accounts: of, deliver: deliver, observe: observe,
		limiters: newPerKey[connection.Key](func() *rate.Limiter { return rate.NewLimiter(maxRate, maxRate) }),
		reading:  newPerKey[string](func() *semaphore.Weighted { return semaphore.NewWeighted(maxReading) }),
	}
}

// ServeHTTP answers a delivery.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	key, token, valid := parse(request)
	if good := r.isGood(request.Context(), key, token); !valid || !good {
		r.refuse(w)
		return
	}
	reading := r.reading.of(key.Namespace)
	if !r.limiters.of(key).Allow() || !reading.TryAcquire(1) {
		r.observe(resultLimited)
		setReadTimeout(w, time.Second)
		w.Header().Set("Retry-After", "1")
		http.Error(w, http.StatusText(http.StatusTooManyRequests), http.StatusTooManyRequests)
		return
	}
	defer reading.Release(1)
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if err != nil {
		r.refuse(w)
		return
	}
	if answerHandshake(w, request, body) {
		r.observe(resultHandshake)
		return
	}
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(http.StatusOK) // some services count nothing else as delivered
	_ = http.NewResponseController(w).Flush()
	if coding := request.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		body = nil // it is not decoded: what is small here can be large there
	}
	r.observe(r.deliver(key, request.Header.Get("Content-Type"), body))
}

// isGood reports whether a token is one of a connection, by the digests that the operator writes into the status of the
// service. So not even the time of a comparison says anything about a token. A connection that does not exist has a
// digest, too, which no token has.
func (r *Receiver) isGood(ctx context.Context, key connection.Key, token string) bool {
	good, digests := 0, []string{"", ""}
	if service, err := r.service(ctx, key); err == nil && service.NotificationsSecret() != nil {
		copy(digests, ptr.Deref(service.ServiceStatus().Notifications, v1alpha1.NotificationsStatus{}).TokenDigests)
	}
	for _, digest := range digests {
		good |= subtle.ConstantTimeCompare([]byte(receiver.Digest(token)), []byte(digest))
	}
	return good == 1
}

// setReadTimeout bounds how long the rest of a request is read. The server reads it after an answer, too.
func setReadTimeout(w http.ResponseWriter, duration time.Duration) {
	// Not every ResponseWriter has deadlines. Those of the server do.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(duration))
}

// refuse gives the one answer to whatever is wrong, and reads no more of it.
func (r *Receiver) refuse(w http.ResponseWriter) {
	r.observe(resultRefused)
	w.Header().Set("Connection", "close")
	setReadTimeout(w, 0)
	http.Error(w, http.StatusText(http.StatusNotFound), http.StatusNotFound)
}

// parse finds out which connection a request is for, and its token.
func parse(request *http.Request) (key connection.Key, token string, valid bool) {
	path, found := strings.CutPrefix(request.URL.Path, "/notifications/")
	namespace, rest, _ := strings.Cut(path, "/")
	name, token, _ := strings.Cut(rest, "/")
	scheme, bearer, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if token == "" && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(bearer)
	}
	_, challenge := challengeIn(request.URL.Query().Get)
	isMethod := request.Method == http.MethodPost || request.Method == http.MethodGet && challenge != ""
	valid = found && namespace != "" && name != "" && isMethod
	key = connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: namespace, Name: name}
	if namespace == receiver.ClusterNamespace {
		key = connection.Key{Kind: v1alpha1.ServiceKindClusterIdentityService, Name: name}
	}
	return key, token, valid
}

// challengeNames are the names under which a text to echo comes: before a subscription, some services ask whether the
// receiver wants it, in the query of a GET or a POST, or in the body of a POST. Not documented: our reading.
var challengeNames = []string{"challenge", "hub.challenge", "validationToken", "validation_token", "crc_token"}

// echoed is the form of a text that is echoed: it is short, and harmless wherever it is shown.
var echoed = regexp.MustCompile(`^[^<>&"'[:^print:]]{1,256}$`)

// challengeIn finds a text to echo, and its name; "" if there is none.
func challengeIn(get func(name string) string) (name, text string) {
	for _, name := range challengeNames {
		if text := get(name); echoed.MatchString(text) {
			return name, text
		}
	}
	return "", ""
}

// answerHandshake echoes the text of a handshake, in the form in which it came, and reports whether there was one. A
// delivery has more than that text and the kind of the message.
func answerHandshake(w http.ResponseWriter, request *http.Request, body []byte) bool {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, text := challengeIn(request.URL.Query().Get); text != "" && len(body) == 0 {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
		return true
	}
	var fields map[string]any
	err := json.Unmarshal(body, &fields)
	name, text := challengeIn(func(name string) string {
		text, _ := fields[name].(string)
		return text
	})
	if err != nil || text == "" || len(fields) > 3 {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{name: text})
	return true
}
