package mandate

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
)

// applyAnew has all Mandates come back from their manifests.
func (w *world) applyAnew() {
	for _, name := range sorted(w.mandates) {
		was := w.mandates[name]
		delete(w.mandates, name)
		w.reapply(name, was, nil)
		if n := len(w.reviews); n > 0 { // the review in the manifest is the one that it was
			w.reviews = w.reviews[n-1:]
			w.reviews[0].since = 1
		}
	}
}

// reinstateMoves are a restore by a tool, while no operator runs, and what a person says of it. Unlike after a restore
// of etcd, the records tell that they were restored, and nothing is excused, as long as each record was backed up.
func (x *explorer) reinstateMoves(s *state, spend spender) {
	if s.world.isBackedUp() {
		spend(reinstate, "the operators end, and a tool makes the records of the backup anew", func(after *state) {
			changed((*world).reinstate)(after)
			for i := range after.ops {
				after.ops[i] = x.started(after.world)
			}
		})
	}
	for _, name := range sorted(s.world.mandates) {
		if record := s.world.records[name]; s.world.isRestored(name) && !s.world.wasEverSent(name) {
			spend(attest, "a person says that the record of "+name+" lacks nothing", changed(func(w *world) {
				m := w.mandates[name].DeepCopy()
				m.Annotations = map[string]string{v1alpha1.RecordCompleteAnnotation: string(record.UID)}
				w.store(m)
			}))
		}
	}
}

// vouchMoves are what a person says, who is right, of creates without an answer.
func vouchMoves(s *state, spend spender) {
	for _, name := range sorted(s.world.mandates) {
		create := ledger.CreateOf(s.world.records[name])
		if create == nil || create.Result != v1alpha1.CallUnknown || s.world.wasEverSent(name) {
			continue
		}
		spend(vouch, "a person says that nothing was created for "+name, changed(func(w *world) {
			m := w.mandates[name].DeepCopy()
			m.Annotations = map[string]string{v1alpha1.NotCreatedAnnotation: ledger.EndOf(create)}
			w.store(m)
		}))
	}
}

// isBackedUp reports whether the backup has a record of every name that has one, with more than the first create under
// way: that one does not tell, and is sent again within an hour. It creates twice only if somebody also deletes the
// application at the service within that hour.
func (w *world) isBackedUp() bool {
	return w.backup != nil && !slices.ContainsFunc(sorted(w.records), func(name string) bool {
		return w.backup[name] == nil || w.backup[name].Spec.RecordUID == ""
	})
}

func (w *world) reinstate() {
	w.applyAnew()
	w.records = map[string]*v1alpha1.ApplicationRecord{}
	for _, name := range sorted(w.backup) {
		record := w.backup[name].DeepCopy()
		w.uids++
		record.UID = types.UID("record-" + strconv.Itoa(w.uids))
		w.storeRecord(record)
	}
	for _, url := range sorted(w.sites) {
		w.changeSite(url, func(s *site) {
			for i := range s.applications {
				s.applications[i].excused = true
			}
		})
	}
}

// isRestored reports whether the record of a Mandate may lack what was sent.
func (w *world) isRestored(name string) bool {
	record, m := w.records[name], w.mandates[name]
	return record != nil && m != nil && ledger.IsRestored(record, engine.CompleteRecord(m))
}

// wasEverSent reports whether a create for a name was ever carried out, or may be.
func (w *world) wasEverSent(name string) bool {
	for _, here := range w.sites {
		if slices.ContainsFunc(here.applications, func(a application) bool { return a.name == name }) ||
			slices.ContainsFunc(here.underWay, func(r request) bool { return r.name == name }) {
			return true
		}
	}
	return false
}
