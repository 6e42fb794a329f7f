package chaos_test

import "testing"

// What happens between two looks of the operator it never sees: its watches are held while people act.
func TestUnobserved(t *testing.T) {
	t.Parallel()
	claim := effect{"POST applicationrecords", plain, 1}
	post := effect{create, plain, 1}
	cases := map[string]struct {
		reason string
		act    func(*stage) (ends func())
		emails map[string]int // by reference, without its namespace
	}{
		"deleted and applied again": {
			act: func(s *stage) func() {
				s.applies("")
				id, uid := s.ready(), s.get().UID
				s.crew.api.Watches.Pause()
				s.deletes()
				s.applies("name: Another")
				return func() {
					if again := s.ready(); again != id || s.get().UID == uid {
						s.Errorf("the application is %d, and was %d", again, id)
					}
				}
			},
			emails: map[string]int{"plain": 1},
		},
		"applied, edited and deleted": {
			act: func(s *stage) func() {
				s.crew.api.Watches.Pause()
				s.applies("")
				s.edits(`{"spec":{"name":"Another"}}`)
				s.deletes()
				return func() {
					s.applies("reference: later") // whose turn comes after what was held
					s.ready()
				}
			},
			emails: map[string]int{"later": 1},
		},
		"deleted and applied again, before the claim arrives": {
			reason: "the attempt is for a Mandate that is gone, and must not be sent in the name of the one that is there",
			act: func(s *stage) func() {
				held := s.hold(claim, false)
				s.applies("")
				s.reached(held)
				s.crew.api.Watches.Pause()
				s.deletes()
				s.applies("reference: new")
				held.release()
				return func() { s.ready() }
			},
			emails: map[string]int{"new": 1},
		},
		"deleted and applied again, while the create is under way": {
			act: func(s *stage) func() {
				held := s.hold(post, true)
				s.applies("")
				s.reached(held)
				s.crew.api.Watches.Pause()
				s.deletes()
				s.applies("")
				held.release()
				return func() { s.ready() }
			},
			emails: map[string]int{"plain": 1},
		},
		"edited, deleted and applied again with another reference, while the create is under way": {
			reason: "what was created belongs to the old reference, and the new Mandate is another one",
			act: func(s *stage) func() {
				held := s.hold(post, true)
				s.applies("")
				s.reached(held)
				s.crew.api.Watches.Pause()
				s.edits(`{"spec":{"name":"Another"}}`)
				s.deletes()
				s.applies("reference: new")
				held.release()
				return func() {
					s.ready()
					if record := s.liveRecord(s.reference(plain)); record == nil || record.Spec.ApplicationID == nil {
						s.Errorf("the application of the old Mandate is lost: %+v", record)
					}
				}
			},
			emails: map[string]int{"plain": 1, "new": 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, world.operator)
			s.begins()
			ends := c.act(s)
			s.crew.api.Watches.Resume()
			ends()
			s.emails(c.emails)
			if t.Failed() {
				t.Log(c.reason)
			}
		})
	}
}
