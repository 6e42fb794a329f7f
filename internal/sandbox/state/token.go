package state

import (
	"crypto/rand"
	"sync"
	"time"
)

// Tokens are the bearer tokens that were handed out. They are safe for concurrent use.
type Tokens struct {
	clock    *Clock
	lifetime time.Duration

	mu     sync.Mutex
	expiry map[string]time.Time
}

// NewTokens returns an empty set whose tokens live for lifetime on clock.
func NewTokens(clock *Clock, lifetime time.Duration) *Tokens {
	return &Tokens{clock: clock, lifetime: lifetime, expiry: map[string]time.Time{}}
}

// Issue makes a new token. The ones before it stay valid: our reading.
func (t *Tokens) Issue() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	for token, expiry := range t.expiry {
		if !now.Before(expiry) {
			delete(t.expiry, token)
		}
	}
	token := rand.Text()
	t.expiry[token] = now.Add(t.lifetime)
	return token
}

// Valid is true if the token was issued and is neither expired nor revoked.
func (t *Tokens) Valid(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	expiry, ok := t.expiry[token]
	return ok && t.clock.Now().Before(expiry)
}

// Revoke makes every token invalid and returns how many there were.
func (t *Tokens) Revoke() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.expiry)
	clear(t.expiry)
	return n
}
