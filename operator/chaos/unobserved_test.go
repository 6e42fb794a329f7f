package chaos_test

import "testing"

// Users change objects while the operator's watches are held back, so that it never observes the states in between.
func TestUnobserved(t *testing.T) {
	t.Parallel()
	claim := effect{"POST applicationrecords", plain, 1}
	post := effect{createRequest, plain, 1}
	cases := map[string]struct {
		reason string
		act    func(*fixture) (check func())
		emails map[string]int // by reference, without its namespace
	}{
		"deleted and applied again": {
			act: func(f *fixture) func() {
				f.applyPlain("")
				id, uid := f.ready(), f.get().UID
				f.fleet.api.Watches.Pause()
				f.deletePlain()
				f.applyPlain("createBefore: 2099-01-01T00:00:00Z")
				return func() {
					f.readyWith(id)
					if f.get().UID == uid {
						f.Error("the Mandate was not replaced")
					}
				}
			},
			emails: map[string]int{"plain": 1},
		},
		"applied, edited and deleted": {
			act: func(f *fixture) func() {
				f.fleet.api.Watches.Pause()
				f.applyPlain("")
				f.patchPlain(`{"spec":{"name":"Another"}}`)
				f.deletePlain()
				return func() {
					f.applyPlain("reference: later") // the operator receives it after the changes that were held back
					f.ready()
				}
			},
			emails: map[string]int{"later": 1},
		},
		"deleted and applied again, before the claim arrives": {
			reason: "the attempt is for the deleted Mandate, and must not be sent for its successor",
			act: func(f *fixture) func() {
				paused := f.pauseAt(claim, false)
				f.applyPlain("")
				f.waitPaused(paused)
				f.fleet.api.Watches.Pause()
				f.deletePlain()
				f.applyPlain("reference: new")
				paused.resume()
				return func() { f.ready() }
			},
			emails: map[string]int{"new": 1},
		},
		"deleted and applied again, while the create is in progress": {
			act: func(f *fixture) func() {
				paused := f.pauseAt(post, true)
				f.applyPlain("")
				f.waitPaused(paused)
				f.fleet.api.Watches.Pause()
				f.deletePlain()
				f.applyPlain("")
				paused.resume()
				return func() { f.ready() }
			},
			emails: map[string]int{"plain": 1},
		},
		"edited, deleted and applied again with another reference, while the create is in progress": {
			reason: "a name has one application, which belongs to the old reference",
			act: func(f *fixture) func() {
				paused := f.pauseAt(post, true)
				f.applyPlain("")
				f.waitPaused(paused)
				f.fleet.api.Watches.Pause()
				f.patchPlain(`{"spec":{"name":"Another"}}`)
				f.deletePlain()
				f.applyPlain("reference: new")
				paused.resume()
				return func() {
					f.waitApplicationExists()
					if record := f.liveRecord(f.reference(plain)); record == nil || record.Spec.ApplicationID == nil {
						f.Errorf("the application of the old Mandate is lost: %+v", record)
					}
				}
			},
			emails: map[string]int{"plain": 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, cluster.operator)
			f.start()
			check := c.act(f)
			f.fleet.api.Watches.Resume()
			check()
			f.emails(c.emails)
			if t.Failed() {
				t.Log(c.reason)
			}
		})
	}
}
