package state

import (
	"crypto/rand"
	"sync"
	"time"
)

// Tokens are the issued bearer tokens. They are safe for concurrent use.
type Tokens struct {
	clock *Clock

	mu     sync.Mutex
	expiry map[string]time.Time
}

// NewTokens returns an empty set whose tokens expire on the clock.
func NewTokens(clock *Clock) *Tokens {
	return &Tokens{clock: clock, expiry: map[string]time.Time{}}
}

// Issue returns a new token. revokeOthers revokes the older ones.
func (t *Tokens) Issue(lifetime time.Duration, revokeOthers bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	for token, expiry := range t.expiry {
		if revokeOthers || !now.Before(expiry) {
			delete(t.expiry, token)
		}
	}
	token := rand.Text()
	t.expiry[token] = now.Add(lifetime)
	return token
}

// Valid is true if the token is neither expired nor revoked.
func (t *Tokens) Valid(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	expiry, ok := t.expiry[token]
	return ok && t.clock.Now().Before(expiry)
}

// Revoke revokes every token and returns how many there were.
func (t *Tokens) Revoke() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.expiry)
	clear(t.expiry)
	return n
}
