package notification

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
)

// +kubebuilder:rbac:groups=idv.mandate.io,resources=identityservices;clusteridentityservices,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

const (
	// tokenTTL is how long the tokens of a connection are used before they are read again, also if there are none, and
	// tokenRetryInterval the same after a read that failed.
	tokenTTL, tokenRetryInterval = 30 * time.Second, 5 * time.Second
	// maxReads of a Secret may follow each other because of tokens that it did not have when it was read last, and then
	// one in a tokenRetryInterval. So a new token is good at once, unless others send wrong ones.
	maxReads = 2
	// tokenReadTimeout bounds a read of tokens. A sender waits for it.
	tokenReadTimeout = 3 * time.Second
	// maxCachedConnections is how many connections have their tokens cached.
	maxCachedConnections = 10_000
	// maxRate is how many deliveries of a connection are taken each second.
	maxRate = 50
)

// tokenSource knows the tokens of all connections. It reads a Secret when a delivery for its service arrives, and
// nothing for services that do not exist: what anybody can send must not cause requests to the API server.
type tokenSource struct {
	// cache has the services, and live reads Secrets.
	cache, live client.Reader
	// clusterServices: the operator may read ClusterIdentityServices.
	clusterServices bool
	clock           clock.PassiveClock

	dummyDigests digests // no token has them: compared for a connection that does not exist
	reads        singleflight.Group
	entries      *lru.Cache // *tokens by connection.Key
}

// digests of the tokens that are good now. Those of no token are random.
type digests [2][sha256.Size]byte

// tokens are those of one connection.
type tokens struct {
	service  types.UID
	secret   v1alpha1.NamespacedSecretReference
	digests  digests
	read     time.Time // when the read began
	readNext time.Time
	// readLimit is of its Secret, and limiter of its deliveries.
	readLimit, limiter *rate.Limiter
}

func newTokenSource(cache, live client.Reader, clusterServices bool, clock clock.PassiveClock) *tokenSource {
	return &tokenSource{
		cache: cache, live: live, clusterServices: clusterServices, clock: clock,
		dummyDigests: randomDigests(), entries: lru.New(maxCachedConnections),
	}
}

func randomDigests() (d digests) {
	for i := range d {
		_, _ = rand.Read(d[i][:]) // it never fails
	}
	return d
}

// check reports whether a token is one of a connection, and gives the limiter of its deliveries. One that is not may
// have been put into the Secret since that was read. What is compared, and how long that takes, is the same for
// connections that do not exist.
func (s *tokenSource) check(key connection.Key, token string) (*rate.Limiter, bool) {
	sent := s.clock.Now()
	limiter, good := s.compare(s.of(key, time.Time{}), token)
	if !good {
		limiter, good = s.compare(s.of(key, sent), token)
	}
	return limiter, good
}

// checkCached is check without waiting for a read. It compares with the tokens that were read last, however long
// ago, and has them read again: one that was removed since may be good until they are. Connections that do not exist
// are looked for as well, so that it takes the same time.
func (s *tokenSource) checkCached(key connection.Key, token string) (*rate.Limiter, bool) {
	var since time.Time
	limiter, good := s.compare(s.cached(key), token)
	if !good {
		since = s.clock.Now()
	}
	s.reads.DoChan(key.String(), func() (any, error) { return s.current(key, since), nil })
	return limiter, good
}

// compare compares digests, so that not even the time of a comparison says anything about a token.
func (s *tokenSource) compare(known *tokens, token string) (*rate.Limiter, bool) {
	var limiter *rate.Limiter
	wanted := s.dummyDigests
	if known != nil {
		wanted, limiter = known.digests, known.limiter
	}
	sent := digest(token)
	same := subtle.ConstantTimeCompare(sent[:], wanted[0][:]) | subtle.ConstantTimeCompare(sent[:], wanted[1][:])
	return limiter, same == 1
}

func digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// of gives the tokens of a connection; nil if it does not exist. If they were read before a time, they are read
// again, but not too often.
func (s *tokenSource) of(key connection.Key, since time.Time) *tokens {
	known := s.cached(key)
	for range 2 { // the first read may be one that began before that time
		if s.isCurrent(known, since) {
			break
		}
		read, _, _ := s.reads.Do(key.String(), func() (any, error) { return s.current(key, since), nil })
		known = read.(*tokens) //nolint:forcetypeassert // the function above returns no other type
	}
	return known
}

// current reads the tokens of a connection unless that was done a moment ago, or since a time.
func (s *tokenSource) current(key connection.Key, since time.Time) *tokens {
	if known := s.cached(key); s.isCurrent(known, since) {
		return known
	}
	return s.read(key)
}

func (s *tokenSource) isCurrent(known *tokens, since time.Time) bool {
	now := s.clock.Now()
	return known != nil && now.Before(known.readNext) && (!known.read.Before(since) || known.readLimit.TokensAt(now) < 1)
}

func (s *tokenSource) cached(key connection.Key) *tokens {
	if found, ok := s.entries.Get(key); ok {
		return found.(*tokens) //nolint:forcetypeassert // it holds no other type
	}
	return nil
}

// read reads the tokens of a connection. If they cannot be read now, those from before stay good.
func (s *tokenSource) read(key connection.Key) *tokens {
	ctx, cancel := context.WithTimeout(context.Background(), tokenReadTimeout) // it outlives the delivery that asks first
	defer cancel()
	service := s.service(ctx, key)
	if service == nil {
		s.entries.Remove(key)
		return nil
	}
	before, now := s.cached(key), s.clock.Now()
	current := &tokens{
		service: service.GetUID(), digests: randomDigests(), read: now, readNext: now.Add(tokenTTL),
		readLimit: rate.NewLimiter(rate.Every(tokenRetryInterval), maxReads), limiter: rate.NewLimiter(maxRate, maxRate),
	}
	if before != nil && before.service == current.service {
		current.readLimit, current.limiter = before.readLimit, before.limiter
	}
	current.readLimit.AllowN(now, 1) // which a read that is due does not wait for
	if ref := service.NotificationsSecret(); ref != nil {
		current.secret = *ref
		var secret corev1.Secret
		err := s.live.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, &secret)
		switch {
		case err == nil:
			current.set(0, secret.Data[receiver.KeyToken])
			current.set(1, secret.Data[receiver.KeyPreviousToken])
		case !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err):
			current.readNext = now.Add(tokenRetryInterval)
			if before != nil && before.service == current.service && before.secret == current.secret {
				current.digests = before.digests
			}
		}
	}
	s.entries.Add(key, current)
	return current
}

// service gives a service that exists; nil if there is none, or it is not for this operator.
func (s *tokenSource) service(ctx context.Context, key connection.Key) connection.Service {
	if key.Kind == v1alpha1.ServiceKindClusterIdentityService && !s.clusterServices {
		return nil
	}
	service := key.NewService()
	if err := s.cache.Get(ctx, key.ObjectKey(), service); err != nil {
		return nil
	}
	return service
}

// set makes a token good, unless it cannot be one.
func (t *tokens) set(i int, value []byte) {
	if token, ok := receiver.TokenOf(value); ok {
		t.digests[i] = digest(token)
	}
}
