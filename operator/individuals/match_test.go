package individuals

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	idv "github.com/mandate-io/idv/internal/client"
)

// answer is an individual that a service shows.
func answer(id int64, reference, email string) idv.Individual {
	return idv.Individual{ID: id, Reference: idv.Hide(reference), Email: idv.Hide(email)}
}

// TestMatch holds which individual of an answer each of the spec is: by its index in the answer, -1 for none.
func TestMatch(t *testing.T) {
	t.Parallel()
	const none = -1
	jane, john := Expected{Name: "jane", Reference: "J1", Email: "jane@x"}, Expected{Name: "john", Reference: "j2"}
	two := []Expected{jane, john}
	john.Email = "john@x"
	ofIDs := []Expected{{Name: "jane", ID: 1}, {Name: "john", ID: 2}}
	lostSecret := []Expected{jane, {Name: "john"}}
	withEmails := []Expected{jane, john}
	type answered = []idv.Individual
	for name, c := range map[string]struct {
		why      string
		expected []Expected
		answered answered
		want     []int
		complete bool
	}{
		"by reference":     {"", two, answered{answer(2, "j2", ""), answer(1, "J1", "")}, []int{1, 0}, true},
		"in other letters": {"", two, answered{answer(2, " J2", ""), answer(1, "j1 ", "")}, []int{1, 0}, true},
		"one is missing":   {"", two, answered{answer(2, "j2", "")}, []int{none, 0}, false},
		"one more": {
			"", two, answered{answer(1, "J1", ""), answer(2, "j2", ""), answer(3, "", "")}, []int{0, 1}, false,
		},
		"one reference twice":     {"", two, answered{answer(1, "J1", ""), answer(2, "J1", "")}, []int{none, none}, false},
		"one id twice":            {"", two, answered{answer(1, "J1", ""), answer(1, "j2", "")}, []int{none, none}, false},
		"a reference of nobody":   {"", two, answered{answer(1, "J1", ""), answer(2, "j3", "")}, []int{0, none}, false},
		"one without a reference": {"", two, answered{answer(1, "J1", ""), answer(2, "", "")}, []int{0, none}, false},
		"none at all":             {"", two, nil, []int{none, none}, false},
		"without ids":             {"", two, answered{answer(0, "j2", ""), answer(0, "J1", "")}, []int{1, 0}, true},
		"two that differ in letters only": {
			"", []Expected{{Reference: "a"}, {Reference: "A"}}, answered{answer(1, "A", ""), answer(2, "a", "")},
			[]int{1, 0}, true,
		},
		"which the service makes equal": {
			"", []Expected{{Reference: "a"}, {Reference: "A"}}, answered{answer(1, "A", ""), answer(2, "A", "")},
			[]int{none, none}, false,
		},

		"by e-mail": {"", withEmails, answered{answer(2, "", "John@X"), answer(1, "", "jane@x")}, []int{1, 0}, true},
		"by an e-mail address that two have": {
			"", withEmails, answered{answer(2, "", "jane@x"), answer(1, "", "jane@x")}, []int{none, none}, false,
		},
		"by e-mail, where one shows none": {
			"the position contradicts", withEmails, answered{answer(2, "", ""), answer(1, "", "jane@x")},
			[]int{none, none}, false,
		},
		"another reference with the e-mail address": {
			"", withEmails, answered{answer(1, "J1", "jane@x"), answer(2, "j3", "john@x")}, []int{0, none}, false,
		},

		"a Secret that is lost": {
			"", lostSecret, answered{answer(2, "j2", ""), answer(1, "J1", "")}, []int{1, none}, false,
		},
		"a Secret that is lost, with ids": {
			"", withIDs(lostSecret), answered{answer(2, "j2", ""), answer(1, "J1", "")}, []int{1, 0}, true,
		},

		"by id": {"", ofIDs, answered{answer(2, "j2", ""), answer(1, "J1", "")}, []int{1, 0}, true},
		"references against ids": {
			"somebody has swapped the Secrets", withIDs(two), answered{answer(1, "j2", ""), answer(2, "J1", "")},
			[]int{none, none}, false,
		},
		"new ids": {"", withIDs(two), answered{answer(4, "j2", ""), answer(3, "J1", "")}, []int{1, 0}, true},
		"new ids against the record": {
			"whom the service e-mails is not known any more", recorded(two),
			answered{answer(4, "j2", ""), answer(3, "J1", "")}, []int{none, none}, false,
		},
		"one new id against the record": {
			"", recorded(two), answered{answer(2, "j2", ""), answer(3, "J1", "")}, []int{none, 0}, false,
		},
		"as recorded": {"", recorded(two), answered{answer(2, "j2", ""), answer(1, "J1", "")}, []int{1, 0}, true},
		"as recorded, without ids": {
			"", recorded(two), answered{answer(0, "j2", ""), answer(0, "J1", "")}, []int{1, 0}, true,
		},
		"e-mail addresses against ids": {
			"somebody has swapped the Secrets", withIDs(withEmails),
			answered{answer(1, "", "john@x"), answer(2, "", "jane@x")}, []int{none, none}, false,
		},
		"new ids and nothing else": {
			"a guess", ofIDs, answered{answer(3, "", ""), answer(4, "", "")}, []int{none, none}, false,
		},

		"by position":              {"", two, answered{answer(2, "", ""), answer(1, "", "")}, []int{none, none}, false},
		"by position, one missing": {"", two, answered{answer(2, "", "")}, []int{none, none}, false},
		"by masked e-mail": {
			"", withEmails, answered{answer(2, "", "jo***@x"), answer(1, "", "ja***@x")}, []int{1, 0}, true,
		},
		"by masked e-mail that fits two": {
			"", withEmails, answered{answer(1, "", "j***n*@x"), answer(2, "", "***")}, []int{none, none}, false,
		},
		"the only one": {"", []Expected{jane}, answered{answer(1, "", "")}, []int{0}, true},
		"the only one, with another address": {
			"", []Expected{jane}, answered{answer(1, "", "a***@y")}, []int{none}, false,
		},
		"by position, against an id": {
			"", []Expected{{Name: "jane", ID: 1}, {Name: "john"}}, answered{answer(2, "", ""), answer(1, "", "")},
			[]int{1, none}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matching := Match(c.expected, c.answered)
			var got []int
			for _, found := range matching.Individuals {
				got = append(got, index(c.answered, found))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || matching.Complete != c.complete {
				t.Errorf("complete %t, want %t (-want +got):\n%s%s", matching.Complete, c.complete, diff, c.why)
			}
			if matching.Fewer != (len(c.answered) < len(c.expected)) {
				t.Errorf("fewer is %t", matching.Fewer)
			}
		})
	}
}

// withIDs is what a status knows besides: the first is 1, the second 2.
func withIDs(expected []Expected) []Expected {
	var known []Expected
	for i, e := range expected {
		e.ID = int64(i) + 1
		known = append(known, e)
	}
	return known
}

// recorded is what a record knows besides.
func recorded(expected []Expected) []Expected {
	known := withIDs(expected)
	for i := range known {
		known[i].Recorded = true
	}
	return known
}

func index(answered []idv.Individual, found *idv.Individual) int {
	for i := range answered {
		if found == &answered[i] {
			return i
		}
	}
	return -1
}
