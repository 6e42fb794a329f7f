// Package evidence makes digests of what decisions about an application and reviews of its checks are based on. Who
// decides names the digest that the status showed, and the operator compares it with what the service shows now.
//
// A digest covers the ids of individuals and checks, the states and results of checks, and resets. It does not cover
// counters, times, addresses, actions and the state of the application. It is keyed, so that nobody can try out which
// states and results lead to it.
package evidence

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/client/wire"
	"github.com/mandate-io/idv/operator/ledger"
)

// Key is the salt of an ApplicationRecord.
type Key string

// For is the key of what a Mandate shows. Evidence of an object that was there before, of the Mandate or of its record,
// is about something that nobody has seen in this one.
func (k Key) For(mandate, record types.UID) Key { return k + Key("/"+mandate+"/"+record) }

// sum is short, because people copy it. It protects from mistakes, not from attacks: who may decide may decide anyhow.
// It has a letter that keeps YAML from reading a number, such as 12345678 or 12e45678.
func (k Key) sum(parts ...any) string {
	for again := 0; ; again++ {
		h := hmac.New(sha256.New, []byte(k))
		_ = json.NewEncoder(h).Encode(append(parts, again)) // texts and numbers always encode, and a hash takes all
		if digest := hex.EncodeToString(h.Sum(nil)[:4]); strings.ContainsAny(digest, "abcdf") {
			return digest
		}
	}
}

// Individual is the evidence of an individual, and of each of its checks. reset tells the resets of the individual
// apart; "" is none, or whatever there was. A service may show checks in any order. If there are none, the state of the
// individual counts.
func (k Key) Individual(individual *client.Individual, reset string) (round string, checks []string) {
	for i := range individual.Checks {
		checks = append(checks, k.check(individual.ID, reset, &individual.Checks[i]))
	}
	return k.Round(individual, reset, checks), checks
}

func (k Key) check(individual int64, reset string, check *client.Check) string {
	name := ""
	if check.ID == 0 {
		name = check.Name
	}
	return k.sum("check", individual, reset, check.ID, name, stateOf(check.State), check.Results.Reveal())
}

// Round is the evidence of an individual with checks of this evidence.
func (k Key) Round(individual *client.Individual, reset string, checks []string) string {
	if len(checks) == 0 {
		return k.sum("individual", individual.ID, reset, stateOf(individual.State))
	}
	return k.sum("individual", individual.ID, reset, slices.Sorted(slices.Values(checks)))
}

// Application is the evidence of all individuals.
func (k Key) Application(rounds []string) string {
	return k.sum("application", slices.Sorted(slices.Values(rounds)))
}

func stateOf(s client.State) string {
	if s.Name == "" && s.ID != 0 {
		return strconv.FormatInt(s.ID, 10)
	}
	return wire.FoldName(s.Name)
}

// LastReset tells the last reset of an individual that a record has apart from the ones before. A reset counts from the
// moment at which it is recorded, unless it certainly did nothing; "" is none.
func LastReset(record *v1alpha1.ApplicationRecord, individual string) (reset *v1alpha1.Call, key string) {
	reset = ledger.Find(record, func(c *v1alpha1.Call) bool {
		return c.Kind == v1alpha1.CallResetIndividual && c.Individual == individual && c.Sends > 0
	})
	if reset == nil {
		return nil, ""
	}
	return reset, reset.Name + "/" + strconv.FormatInt(reset.StartedTime.Unix(), 10)
}

// Number adds the number of changes to a digest, so that evidence which was there before is not taken for the same.
func Number(digest string, changes int) string { return digest + "-" + strconv.Itoa(changes) }

// Parse splits numbered evidence. The number is 0 if there is none.
func Parse(numbered string) (digest string, changes int) {
	digest, number, _ := strings.Cut(numbered, "-")
	changes, _ = strconv.Atoi(number)
	return digest, changes
}
