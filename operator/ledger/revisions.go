package ledger

import (
	"errors"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// IsRestored reports whether a record is not the one that the operator wrote, so that it may lack what was sent since
// the backup. It does not if it is the one of which a person says so: complete is its uid. A record that has a create
// under way and nothing else does not tell, and need not: the create is sent again with the same reference, within an
// hour.
func IsRestored(record *v1alpha1.ApplicationRecord, complete types.UID) bool {
	written := record.Spec.RecordUID
	return written != "" && written != record.UID && complete != record.UID
}

// ErrBackwards means that the API server has given out a resourceVersion that is older than one it gave out before:
// etcd was restored from a backup. What this process knows then comes from a future that the API server has forgotten,
// and calls that were made in it may be asked for again.
var ErrBackwards = errors.New("the resourceVersion went backwards, so etcd was restored: nothing more is sent. " +
	"Compare the Mandates with the service, then follow the section etcd of docs/disaster.md")

// Revisions notices when the API server goes backwards. From then on, this process begins no call. The zero value
// is ready; nil compares nothing.
type Revisions struct {
	mu        sync.Mutex
	highest   string
	backwards bool
}

// Check is for /readyz: it fails once the API server has gone backwards.
func (r *Revisions) Check(*http.Request) error {
	_, err := r.before()
	return err
}

// Highest is the highest resourceVersion so far.
func (r *Revisions) Highest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.highest
}

// Compare compares the resourceVersion of a read of all that there is with the highest one before it was sent.
func (r *Revisions) Compare(version, before string) {
	if order, err := resourceversion.CompareResourceVersion(version, before); err == nil && order < 0 {
		r.Hold()
		return
	}
	r.see(version)
}

// Hold has no call begin, because the API server has gone backwards.
func (r *Revisions) Hold() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.backwards = true
}

// before is the highest resourceVersion so far, for a write that is about to be sent.
func (r *Revisions) before() (string, error) {
	if r == nil {
		return "", nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.backwards {
		return "", ErrBackwards
	}
	return r.highest, nil
}

// written compares the resourceVersion of a write with the highest one before it was sent. One that cannot be compared
// counts as newer.
func (r *Revisions) written(version, before string) error {
	order, err := resourceversion.CompareResourceVersion(version, before)
	if err == nil && order <= 0 {
		r.Hold()
		return ErrBackwards
	}
	r.see(version)
	return nil
}

// see takes note of a resourceVersion that was read or written.
func (r *Revisions) see(version string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	order, err := resourceversion.CompareResourceVersion(version, r.highest)
	if r.highest == "" || err == nil && order > 0 {
		r.highest = version
	}
}
