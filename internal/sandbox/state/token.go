package state

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"
)

// Tokens are the issued bearer tokens. They are safe for concurrent use.
type Tokens struct {
	clock  *Clock
	prefix string

	mu     sync.Mutex
	expiry map[string]time.Time
	issued []time.Time // in the last hour, oldest first
}

// NewTokens returns an empty set whose tokens expire on the clock, and begin with a prefix.
func NewTokens(clock *Clock, prefix string) *Tokens {
	return &Tokens{clock: clock, prefix: prefix, expiry: map[string]time.Time{}}
}

// Issue returns a new token, or false if perHour tokens were issued in the last hour; 0 is no limit. revokeOthers
// revokes the older ones.
func (t *Tokens) Issue(lifetime time.Duration, revokeOthers bool, perHour int) (token string, issued bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	t.issued = slices.DeleteFunc(t.issued, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	if perHour > 0 && len(t.issued) >= perHour {
		return "", false
	}
	t.issued = append(t.issued, now)
	for token, expiry := range t.expiry {
		if revokeOthers || !now.Before(expiry) {
			delete(t.expiry, token)
		}
	}
	token = t.prefix + rand.Text()
	t.expiry[token] = now.Add(lifetime)
	return token, true
}

// Valid is true if the token is neither expired nor revoked.
func (t *Tokens) Valid(token string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	expiry, ok := t.expiry[token]
	return ok && t.clock.Now().Before(expiry)
}

// Reset revokes every token, and forgets how many were issued.
func (t *Tokens) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.expiry)
	t.issued = nil
}

// Revoke revokes every token and returns how many there were.
func (t *Tokens) Revoke() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.expiry)
	clear(t.expiry)
	return n
}
