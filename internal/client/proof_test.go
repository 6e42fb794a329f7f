package client

import (
	"fmt"
	"math/bits"
	"net/http"
	"slices"
	"testing"
)

// bodyNames are the kinds of bodies, in the words of docs/client.md.
var bodyNames = []struct {
	body body
	name string
}{
	{bodyNone, "empty"},
	{bodyProblem, "problem"},
	{bodyChallenge, "Bearer challenge"},
	{bodyContradiction, "contradicting problem"},
	{bodyJSON, "JSON"},
	{bodyFailure, "`success: false`"},
	{bodyForeign, "HTML, text"},
	{bodyCutOff, "cut off"},
	{bodyTooLong, "too long"},
	{bodyCreated, "id and reference"},
	{bodyCandidate, "id alone"},
}

// designed is what a response proves, in the words of the design and not of the table:
//
//   - Nothing happened is proved only by the service itself: a 4xx with a problem body whose status agrees with the
//     status line, or for a 401 a Bearer challenge.
//   - For requests that e-mail nobody and may be repeated, a bare 4xx is a refusal too. For what e-mails, everything
//     else is Unknown.
//   - 408, 425, 499 and every 5xx are Unknown, whatever their body.
//   - Done is proved by a 2xx that is empty or JSON, and no problem, success: false or error. A 202 is accepted.
//   - A create is done if its answer shows the reference that was sent. Any other id is a candidate, also one that a
//     redirect names.
//   - A 403, and a 401 after a good login, is about what was asked. Of a login, it is about the credentials.
func designed(of effect, status int, holds body) Outcome {
	ownWord := holds == bodyProblem || holds == bodyChallenge
	creates := of == effectCreate && status >= 200 && status < 400
	plain := holds == bodyNone && of != effectLogin || holds == bodyJSON
	switch {
	case creates && (holds == bodyCandidate || holds == bodyCreated && status >= 300):
		return Candidate
	case creates && holds == bodyCreated, of != effectCreate && plain && status >= 200 && status < 300,
		creates && plain && status == http.StatusAccepted:
		if status == http.StatusAccepted && of != effectNone && of != effectLogin {
			return Accepted
		}
		return Done
	case of == effectLogin && status >= 200 && status < 300 && (holds == bodyProblem || holds == bodyFailure):
		return Refused
	case status < 400, status >= 500, slices.Contains([]int{408, 425, 499}, status):
		return Unknown
	case !ownWord && (of == effectEmails || of == effectCreate || of == effectLasts):
		return Unknown
	case status == http.StatusUnauthorized && of != effectLogin:
		return Forbidden
	case status == http.StatusForbidden &&
		(of != effectLogin || !ownWord && !plain && holds != bodyFailure && holds != bodyNone):
		return Forbidden
	default:
		return Refused
	}
}

// eachCell goes through all that the table has to decide: every effect, status and kind of body.
func eachCell(look func(of effect, status int, holds body)) {
	for of := effectEmails; of <= effectLogin; of++ {
		for status := 100; status <= 999; status++ {
			for holds := bodyNone; holds <= bodyCandidate; holds <<= 1 {
				look(of, status, holds)
			}
		}
	}
}

func TestProofsAreComplete(t *testing.T) {
	if len(effects) != int(effectLogin)+1 || len(bodyNames) != bits.OnesCount16(uint16(bodyAny)) {
		t.Errorf("%d effects and %d kinds of bodies are named", len(effects), len(bodyNames))
	}
	decides := make([]int, len(proofs))
	eachCell(func(of effect, status int, holds body) {
		first := slices.IndexFunc(proofs, func(r rule) bool { return r.fits(of, status, holds) })
		if first < 0 {
			t.Fatalf("no rule for effect %d, %d, body %b", of, status, holds)
		}
		decides[first]++
		outcome, kind := prove(of, status, holds)
		if outcome != proofs[first].outcome || kind != proofs[first].kind {
			t.Fatalf("effect %d, %d, body %b: %v %s is not the first rule's", of, status, holds, outcome, kind)
		}
	})
	for i, cells := range decides {
		if cells == 0 {
			t.Errorf("rule %d decides nothing: %+v", i, proofs[i])
		}
	}
	for _, status := range []int{-1, 0, 99, 1000} {
		if outcome, kind := prove(effectEmails, status, bodyProblem); outcome != Unknown || kind == "" {
			t.Errorf("%d, which HTTP does not have: %v %s", status, outcome, kind)
		}
	}
}

func TestProofsAreAsDesigned(t *testing.T) {
	eachCell(func(of effect, status int, holds body) {
		want := designed(of, status, holds)
		if got, kind := prove(of, status, holds); got != want {
			t.Fatalf("effect %d, %d, body %b: %v %s, want %v", of, status, holds, got, kind, want)
		}
	})
}

// TestProofsAreMonotonous holds what must be true whatever the table says.
func TestProofsAreMonotonous(t *testing.T) {
	eachCell(func(of effect, status int, holds body) {
		outcome, kind := prove(of, status, holds)
		cell := fmt.Sprintf("effect %d, %d, body %b: %v %s", of, status, holds, outcome, kind)
		ownWord := holds&(bodyProblem|bodyChallenge) != 0
		success := status >= 200 && status < 300
		switch {
		case of.emails() && outcome.NothingDone() && (!ownWord || status/100 != 4):
			t.Fatalf("%s, and nobody but the service may say so", cell)
		case outcome == NotSent:
			t.Fatalf("%s: there is a response", cell)
		case (outcome == Done || outcome == Accepted) &&
			(!success || holds&(bodyNone|bodyJSON|bodyCreated) == 0):
			t.Fatalf("%s: only a 2xx that is empty, JSON or the application is an answer", cell)
		case outcome == Accepted && status != http.StatusAccepted, outcome == Candidate && of != effectCreate:
			t.Fatal(cell)
		case kind == "" && outcome != Done && outcome != Accepted, kind != "" && outcome == Done:
			t.Fatalf("%s: an operation succeeds if it is done or accepted", cell)
		case outcome == Forbidden != (kind == KindForbidden):
			t.Fatalf("%s: forbidden is one thing", cell)
		}
		// What is proved for what e-mails is proved for what is harmless.
		if of == effectEmails {
			for _, other := range []effect{effectLasts, effectRepeatable, effectNone} {
				got, _ := prove(other, status, holds)
				if outcome.NothingDone() && got != outcome || outcome == Done && got != Done {
					t.Fatalf("%s, but %v for effect %d", cell, got, other)
				}
			}
		}
	})
}

func TestStatusesThatRefuse(t *testing.T) {
	for status := 100; status <= 999; status++ {
		want := status >= 400 && status < 500 && !slices.Contains([]int{408, 425, 499}, status)
		if got := refuses(status); got != want {
			t.Errorf("%d: %v", status, got)
		}
	}
}
