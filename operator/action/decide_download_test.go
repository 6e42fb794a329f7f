package action

import "testing"

// A download looks once more at everything, and begins anew if something has changed.
func TestDecideLooksBeforeADownload(t *testing.T) {
	unverified, changed := download(func(f *facts) { f.attempt.verified = false }), download(func(*facts) {})
	changed.attempt.canceled = true
	if got, want := decide(unverified), (decision{Step: stepVerify}); got != want {
		t.Errorf("before the last look: got %+v, want %+v", got, want)
	}
	if got, want := decide(changed), wait(reasonStaleCache); got != want {
		t.Errorf("after a change: got %+v, want %+v", got, want)
	}
}
