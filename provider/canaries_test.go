package provider_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// leakPattern finds every canary, whatever it is embedded in: the texts share a word, the telephone numbers an area
// code, and the dates of birth are in two decades in which nothing else happens.
var leakPattern = regexp.MustCompile(`(?i)canqv[a-z]*|7700 ?9\d{5}|19[45]\d-\d\d-\d\d`)

// canary is personal data or a secret, and everything that a service might put where it does not belong.
type canary struct {
	kind  string
	value any
	// core is the part of it that leakPattern finds, in lower case.
	core string
}

// canaryKinds are the forms of canaries, made from a word and a number that no other canary has.
var canaryKinds = []struct {
	name string
	form func(word string, n int) string
}{
	{"first name", func(word string, _ int) string { return word }},
	{"full name", func(word string, _ int) string { return "Jane " + word }},
	{"e-mail address", func(word string, _ int) string { return strings.ToLower(word) + "@example.com" }},
	{"telephone", func(_ string, n int) string { return fmt.Sprintf("+44 7700 9%05d", n) }},
	{"date of birth", func(_ string, n int) string { return fmt.Sprintf("%d-04-17", 1940+n%20) }},
	{"address", func(word string, n int) string { return fmt.Sprintf("%d %s Road, London", n, word) }},
	{"secret", func(word string, n int) string { return fmt.Sprintf("%sS3cr3t%012d", word, n) }},
	{"access token", func(word string, n int) string { return fmt.Sprintf("eyJhbGciOiJub25lIn0.%s.s%d", word, n) }},
	{"JSON in a text", func(word string, _ int) string { return fmt.Sprintf(`{"first_name":%q}`, word) }},
	{"secret in a text", func(word string, _ int) string { return "Bearer " + word + " ?key=" + word }},
}

// twoHundredCanaries are twenty of each kind. Half of the telephone numbers are JSON numbers, and half of the dates
// have a time.
func twoHundredCanaries() []canary {
	var all []canary
	for _, kind := range canaryKinds {
		for n := range 20 {
			word := "Canqv" + string(rune('a'+len(all)/20)) + string(rune('a'+n))
			text := kind.form(word, n)
			c := canary{kind: kind.name, value: text, core: strings.ToLower(leakPattern.FindString(text))}
			switch {
			case kind.name == "telephone" && n%2 == 0:
				c.value, c.core = json.Number(fmt.Sprintf("4477009%05d", n)), fmt.Sprintf("77009%05d", n)
			case kind.name == "date of birth" && n%2 == 0:
				c.value = text + "T00:00:00Z"
			}
			all = append(all, c)
		}
	}
	return all
}

// isSecret means that the canary cannot be told from a secret that the service made.
func (c canary) isSecret() bool { return c.kind == "secret" || c.kind == "access token" }

// everywhere is an object with the canary in every position: under the names that the state may hold, under others, in
// objects and lists, and as a name.
func (c canary) everywhere() map[string]any {
	positions := map[string]any{}
	for name := range strings.FieldsSeq(`id webhook_id subscriptionId application_id mandate_id url target_url endpoint
		event events topics status state active enabled created created_at updatedAt expires_at
		full_name phone dob address note message description title token password authorization IBAN`) {
		positions[name] = c.value
	}
	if c.isSecret() {
		positions["url"] = fmt.Sprintf("https://jane:%[1]s@hooks.example.com/idv?key=%[1]s#%[1]s", c.value)
	} else {
		positions["secret"], positions["signing_key"] = c.value, c.value
	}
	if !c.isSecret() && c.kind != "first name" { // which look like the name of a field
		positions[fmt.Sprint(c.value)] = true
	}
	positions["event_types"] = []any{"application.completed", c.value}
	positions["subscription"] = map[string]any{"status": map[string]any{"id": c.value, "status": c.value}}
	positions["mandate"] = map[string]any{"id": 4711, "name": c.value, "individuals": []any{map[string]any{"id": c.value}}}
	positions["deliveries"] = []any{map[string]any{"at": c.value, "body": map[string]any{fmt.Sprint(c.value): c.value}}}
	positions["data"] = []any{c.value, []any{c.value}, map[string]any{"items": []any{c.value}}}
	return positions
}

// encodeCanaries encodes an answer. The list "items" of it holds all canaries, each in every position.
func encodeCanaries(answer map[string]any) string { return encodeSomeCanaries(answer, 1) }

// encodeReferenceCanaries leaves out the objects that the client takes for entries of the reference data, because of
// their names. Reference data is about no people, so the names and descriptions in it are stored.
func encodeReferenceCanaries(answer map[string]any) string {
	entry := regexp.MustCompile(`"(mandate|application)(_id)?":`)
	return entry.ReplaceAllString(encodeCanaries(answer), `"other$2":`)
}

// encodeSomeCanaries is encodeCanaries for an answer whose size is limited: it puts only every nth canary in every
// position.
func encodeSomeCanaries(answer map[string]any, nth int) string {
	var items []any
	for n, c := range twoHundredCanaries() {
		if n%nth == 0 {
			items = append(items, c.everywhere())
		}
		items = append(items, c.value)
	}
	answer["items"] = items
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
