package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// journalCapacity bounds the journal; it keeps the newest requests.
const journalCapacity = 10_000

// journal has the requests of the service's interface. The zero value is empty.
type journal struct {
	withBodies bool

	mu       sync.Mutex
	sequence int64             // of the newest request
	cleared  int64             // of the newest request that was cleared
	ring     []control.Request // sequence is at sequence % journalCapacity
}

// add records a request before it is carried out. It records no personal data and no credentials.
func (j *journal) add(a *account, r *request) (sequence int64) {
	entry := control.Request{
		Time: a.clock.Now(), Account: a.config.Name, Operation: r.operation.name, Method: r.Method, Path: r.URL.Path,
	}
	// A login with a wrong path is a form.
	if len(r.body) > 0 && !r.isLogin() && checkMediaType(r, mediaJSON) == nil {
		var body struct{ Reference string }
		_ = json.Unmarshal(r.body, &body) // what is no text is no reference of an application
		sum := sha256.Sum256(r.body)
		entry.Reference, entry.BodyDigest = body.Reference, hex.EncodeToString(sum[:])
		if j.withBodies {
			entry.Body = string(r.body)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ring == nil {
		j.ring = make([]control.Request, journalCapacity)
	}
	j.sequence++
	entry.Sequence = j.sequence
	j.ring[j.sequence%journalCapacity] = entry
	return j.sequence
}

// answered records the status code of a response; 0 means that none was sent.
func (j *journal) answered(sequence int64, status int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if entry := &j.ring[sequence%journalCapacity]; entry.Sequence == sequence {
		entry.Status = status
	}
}

// selected returns the requests that a query selects, oldest first. complete is false if there was no room for all.
func (j *journal) selected(query control.RequestQuery) (requests []control.Request, complete bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	requests = []control.Request{}
	before := max(j.cleared, j.sequence-journalCapacity)
	for sequence := before + 1; sequence <= j.sequence; sequence++ {
		if entry := j.ring[sequence%journalCapacity]; query.Matches(entry) {
			requests = append(requests, entry)
		}
	}
	return requests, before == j.cleared
}

func (j *journal) clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.cleared = j.sequence
}
