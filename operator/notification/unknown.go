package notification

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/mandate-io/idv/operator/connection"
)

// A delivery may come before the status of the Mandate has the id: the service notifies before its answer to the create
// has arrived. Or that answer is lost, and the Mandate does not say so yet.

const (
	// maxUnknown is how many ids of a connection are remembered, and unknownTTL for how long. With fifty a second, these
	// are those of twenty seconds: a create fails after twelve. All connections share less than ten megabytes.
	maxUnknown, unknownTTL, maxUnknownInAll = 1024, 10 * time.Minute, 16 * maxUnknown
)

// unknownID is an id that a delivery named and no Mandate had.
type unknownID struct {
	id         int64
	at         time.Time
	references []uint64 // the hashes of all texts that came with it
	written    bool     // onto the service
}

// remember keeps the ids of a delivery. The more connections have some, the fewer each may have. It is called with the
// lock, as recent and remembers are.
func (x *Index) remember(key connection.Key, ids []int64, references []uint64) {
	if len(ids) == 0 {
		return
	}
	all := x.recent(key)
	if len(all) == 0 {
		maps.DeleteFunc(x.unknown, func(key connection.Key, _ []*unknownID) bool { return len(x.recent(key)) == 0 })
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(u *unknownID) bool { return u.id == id && !u.written }) {
			all = append(all, &unknownID{id: id, at: time.Now(), references: references})
		}
	}
	share := min(maxUnknown, max(maxUnknownInAll/(len(x.unknown)+1), 1))
	x.unknown[key] = all[max(len(all)-share, 0):]
}

// recent gives the ids of a connection that are remembered, the latest ones last.
func (x *Index) recent(key connection.Key) []*unknownID {
	all := x.unknown[key]
	for len(all) > 0 && time.Since(all[0].at) >= unknownTTL {
		all = all[1:]
	}
	return all
}

// remembers reports whether a delivery named an application lately.
func (x *Index) remembers(key connection.Key, id int64) bool {
	return slices.ContainsFunc(x.recent(key), func(u *unknownID) bool { return u.id == id })
}

// toWrite gives the ids of a connection that are to be written onto its service, beside those that it has, if a Mandate
// of its account waits for one. Those that came with the reference of such a Mandate are first. Then come those that
// came at about the time of the first answer that was lost lately, because more may come than can be read.
func (x *Index) toWrite(key connection.Key, account peers, has []int64) (ids []*unknownID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	around, references := time.Now(), map[uint64]bool{}
	for _, e := range x.waiting {
		if account[e.service] != nil {
			references[e.reference] = true
			if time.Since(e.since) < unknownTTL && e.since.Before(around) {
				around = e.since
			}
		}
	}
	if len(references) == 0 {
		return nil
	}
	for _, u := range x.recent(key) {
		u.written = u.written || slices.Contains(has, u.id)
		for key := range account {
			u.written = u.written || x.mandates[x.hashID(key, placeApplication, u.id)] != nil
		}
		if !u.written {
			ids = append(ids, u)
		}
	}
	distance := func(u *unknownID) time.Duration {
		if slices.ContainsFunc(u.references, func(hash uint64) bool { return references[hash] }) {
			return -1
		}
		return u.at.Sub(around).Abs()
	}
	slices.SortStableFunc(ids, func(a, b *unknownID) int { return cmp.Compare(distance(a), distance(b)) })
	return ids
}

// wrote says whether the service has some ids now. Those that the API server has not taken are kept until it does.
func (x *Index) wrote(ids []*unknownID, accepted bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, u := range ids {
		u.written = accepted
		if !accepted {
			u.at = time.Now()
		}
	}
}
