package mandate

import (
	"slices"
	"strings"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/ledger"
)

// serviceMoves are what the service does by itself, or for a person.
func serviceMoves(s *state, spend spender, free func(string, func(*state)), racy bool) {
	for _, url := range sorted(s.world.sites) {
		here := s.world.sites[url]
		subscriptionMoves(&here, url, free)
		for i, change := range here.accepted {
			free("the service carries out what it has accepted", changeOf(url, func(s *site) {
				s.accepted = slices.Delete(slices.Clone(s.accepted), i, i+1)
				if of := s.find(change.id); of >= 0 {
					effectOf(change.op)(&s.applications[of])
				}
			}))
		}
		for i, r := range here.underWay {
			switch {
			case racy && !r.checked && !here.has(r.reference):
				free(
					"the service finds the reference of a late create free",
					changeOf(url, func(s *site) { s.underWay[i].checked = true }),
				)
			case r.checked || !racy && !here.has(r.reference):
				free("the service carries out a late create", changeOf(url, func(s *site) {
					s.create(r)
					s.underWay = slices.Delete(s.underWay, i, i+1)
				}))
			}
		}
		for i, a := range here.applications {
			if a.gone || a.mandate == "" {
				continue
			}
			if now.Sub(a.created) >= retention-24*time.Hour && s.world.remembers(a.reference) {
				spend(
					expire,
					"the service deletes what is eight weeks old",
					changeOf(url, func(s *site) { s.applications[i].gone = true }),
				)
			}
			if a.check != 0 {
				spend(reset, "the individual is reset", changeOf(url, func(s *site) {
					check := a.check + 1
					if s.keepsChecks {
						check = a.check
					}
					s.applications[i].startRound(check)
				}))
			}
			if a.resetting {
				free("the service carries out a reset", changeOf(url, func(s *site) { s.applications[i].startRound(a.check + 1) }))
			}
			if a.check != 0 && (a.state == checkInReview || strings.HasPrefix(a.state, checkReset)) {
				spend(checkPass, "the check passes by itself", changeOf(url, func(s *site) {
					s.applications[i].state = checkPassed
				}))
			}
			if s.world.recorded(url, a.id) {
				spend(
					purge,
					"a person deletes the application at the service",
					changeOf(url, func(s *site) { s.applications[i].gone = true }),
				)
			}
		}
	}
}

// remembers reports whether something but the service will keep the reference from being sent again. Where the records
// are lost and the manifest has no createBefore, nothing does until the service was asked: docs/create-protocol.md says
// so to users.
func (w *world) remembers(reference string) bool {
	if !w.forgotten {
		return true
	}
	for _, m := range w.mandates {
		if m.Spec.CreateBefore == nil {
			return slices.ContainsFunc(sorted(w.records), func(name string) bool {
				spec, create := w.records[name].Spec, ledger.CreateOf(w.records[name])
				return spec.Reference == reference &&
					(spec.ApplicationID != nil || create != nil && create.Answer == v1alpha1.AnswerDuplicate)
			})
		}
	}
	return true
}

// canTell is false for a loss of the records that nothing can make up for: the same limit.
func (w *world) canTell() bool {
	for _, m := range w.mandates {
		if m.Spec.CreateBefore != nil {
			return true
		}
	}
	for _, here := range w.sites {
		if slices.ContainsFunc(here.applications, func(a application) bool { return a.gone }) {
			return false
		}
	}
	return true
}

func changeOf(url string, change func(*site)) func(*state) {
	return changed(func(w *world) { w.changeSite(url, change) })
}

func changed(change func(*world)) func(*state) {
	return func(s *state) {
		s.world = s.world.clone()
		change(s.world)
	}
}

// recorded reports whether the ledger knows an application.
func (w *world) recorded(url string, id int64) bool {
	for _, r := range w.records {
		if siteOfRecord(r) == url && r.Spec.ApplicationID != nil && *r.Spec.ApplicationID == id {
			return true
		}
	}
	return false
}
