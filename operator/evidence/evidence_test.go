package evidence_test

import (
	"strconv"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/evidence"
)

func individual(change func(*client.Individual)) *client.Individual {
	i := &client.Individual{ID: 7, State: client.State{Name: "invited"}, Checks: []client.Check{
		{ID: 1, Name: "document", State: client.State{ID: 203, Name: "in review"}, Results: client.Hide("name match")},
		{ID: 2, Name: "liveness", State: client.State{ID: 203, Name: "in review"}},
	}}
	change(i)
	return i
}

func unchanged(*client.Individual) {}

// Evidence changes with what somebody has to look at again, and with nothing else.
func TestIndividual(t *testing.T) {
	t.Parallel()
	const key evidence.Key = "salt"
	before, checks := key.Individual(individual(unchanged), "")
	for what, change := range map[string]func(*client.Individual){
		"the individual": func(i *client.Individual) { i.ID++ },
		"a check":        func(i *client.Individual) { i.Checks[0].ID++ },
		"a state":        func(i *client.Individual) { i.Checks[1].State.Name = "passed" },
		"a result":       func(i *client.Individual) { i.Checks[0].Results = client.Hide("name mismatch") },
		"one check less": func(i *client.Individual) { i.Checks = i.Checks[:1] },
		"no checks":      func(i *client.Individual) { i.Checks = nil },
	} {
		if after, _ := key.Individual(individual(change), ""); after == before {
			t.Errorf("%s changes, and the evidence does not", what)
		}
	}
	if after, _ := key.Individual(individual(unchanged), "reset-1"); after == before {
		t.Error("a reset does not change the evidence")
	}
	if after, _ := evidence.Key("another").Individual(individual(unchanged), ""); after == before {
		t.Error("the evidence does not depend on the key")
	}
	for what, change := range map[string]func(*client.Individual){
		"the order":        func(i *client.Individual) { i.Checks[0], i.Checks[1] = i.Checks[1], i.Checks[0] },
		"a counter":        func(i *client.Individual) { i.ChecksPassed++ },
		"a title":          func(i *client.Individual) { i.Checks[0].Title = "Document" },
		"letter case":      func(i *client.Individual) { i.Checks[0].State.Name = "In_Review" },
		"terms":            func(i *client.Individual) { i.TermsAccepted = true },
		"the state of one": func(i *client.Individual) { i.State.Name = "started" },
	} {
		if after, _ := key.Individual(individual(change), ""); after != before {
			t.Errorf("%s changes the evidence", what)
		}
	}
	if checks[0] == checks[1] {
		t.Error("two checks have the same evidence")
	}
}

// People copy evidence into YAML, where it has to stay a text.
func TestEvidenceIsNoNumber(t *testing.T) {
	t.Parallel()
	for id := range int64(20_000) {
		one := individual(func(i *client.Individual) { i.ID = id })
		round, checks := evidence.Key("salt").Individual(one, "")
		for _, digest := range append(checks, round, evidence.Number(round, 3)) {
			var read map[string]any
			if err := yaml.Unmarshal([]byte("evidence: "+digest), &read); err != nil || read["evidence"] != digest {
				t.Fatalf("YAML reads %s as %v (%v)", digest, read["evidence"], err)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	digest, changes := evidence.Parse(evidence.Number("7d9f2c41", 12))
	if digest != "7d9f2c41" || changes != 12 {
		t.Errorf("parsed %s and %s", digest, strconv.Itoa(changes))
	}
	if digest, changes := evidence.Parse(""); digest != "" || changes != 0 {
		t.Errorf("of nothing, parsed %q and %d", digest, changes)
	}
}
