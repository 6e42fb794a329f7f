package notification

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// matched is a match in short.
type matched struct {
	Mandates []string
	Lost     []int64
}

func names(of []types.NamespacedName) (short []string) {
	for _, name := range of {
		short = append(short, name.Name)
	}
	slices.Sort(short)
	return short
}

func TestMatch(t *testing.T) {
	x := NewIndex()
	for _, m := range []*v1alpha1.Mandate{
		bound("one", 1, 10, 11), bound("two", 2, 20), bound("eleven", 11), waitingMandate("lost"), waitingMandate("other"),
		creatingMandate("new"),
	} {
		x.OnAdd(m, true)
	}
	for name, c := range map[string]struct {
		body string
		want matched
	}{
		"an application":        {`{"id":1}`, matched{Mandates: []string{"one"}}},
		"an id as a string":     {`{"id":"1"}`, matched{Mandates: []string{"one"}}},
		"an individual":         {`{"individual_id":20}`, matched{Mandates: []string{"two"}}},
		"a reference":           {`{"reference":"team.two"}`, matched{Mandates: []string{"two"}}},
		"another letter case":   {`{"reference":"TEAM.Two"}`, matched{Mandates: []string{"two"}}},
		"an id of two kinds":    {`{"id":11}`, matched{Mandates: []string{"eleven", "one"}}},
		"several":               {`[{"id":1},{"id":2}]`, matched{Mandates: []string{"one", "two"}}},
		"nothing that is known": {`{"name":"x"}`, matched{}},
		"an unknown id":         {`{"id":4711}`, matched{Lost: []int64{4711}}},
		"an unknown id and the reference of one that waits": {
			`{"id":4711,"reference":"team.lost"}`, matched{Lost: []int64{4711}},
		},
		"the reference of one whose create is under way": {
			`{"id":4711,"reference":"team.new"}`, matched{Lost: []int64{4711}},
		},
		"the reference of one that waits": {`{"reference":"team.lost"}`, matched{}},
		"other numbers beside a known application": {
			`{"event_id":99,"application":{"id":1,"status":{"id":3}}}`, matched{Mandates: []string{"one"}},
		},
		"other numbers beside a known individual": {
			`{"event_id":99,"individual":{"id":20}}`, matched{Mandates: []string{"two"}},
		},
		"the id of a delivery about a known individual": {
			`{"id":99,"individual":{"id":20}}`, matched{Mandates: []string{"two"}},
		},
		"other numbers beside a known reference": {
			`{"event_id":99,"reference":"team.two"}`, matched{Mandates: []string{"two"}},
		},
		"a list of known and unknown applications": {
			`[{"id":1,"x":99},{"id":4711,"x":98}]`,
			matched{Mandates: []string{"one"}, Lost: []int64{4711}},
		},
		"several unknown numbers, of which one is certainly an application": {
			`{"event_id":5,"application_id":4711,"count":6}`, matched{Lost: []int64{4711}},
		},
		"several unknown ids, the likeliest first": {
			`{"id":5,"data":{"id":4711},"count":6}`, matched{Lost: []int64{4711, 5}},
		},
		"an unknown application with the id of a known individual": {
			`{"application":{"id":20}}`, matched{Mandates: []string{"two"}, Lost: []int64{20}},
		},
		"an unknown id that is one of a known individual": {
			`{"id":20}`, matched{Mandates: []string{"two"}, Lost: []int64{20}},
		},
		"a known individual": {`{"individual":{"id":20}}`, matched{Mandates: []string{"two"}}},
		"an unknown application of a reference, with the id of a known individual": {
			`{"application":{"id":20,"reference":"team.lost"}}`,
			matched{Mandates: []string{"two"}, Lost: []int64{20}},
		},
		"the id of a state that is one of an individual": {
			`{"application":{"id":4711,"status":{"id":20}}}`, matched{Mandates: []string{"two"}, Lost: []int64{4711}},
		},
		"an unknown application beside a known individual": {
			`{"individual":{"id":20},"application":{"id":4711}}`, matched{Mandates: []string{"two"}, Lost: []int64{4711}},
		},
		"an unknown id beside a user with the id of a known individual": {
			`{"user":{"id":20},"id":4711}`, matched{Mandates: []string{"two"}, Lost: []int64{4711}},
		},
		"the id of an event that is one of an application": {
			`{"id":1,"data":{"id":4711}}`, matched{Mandates: []string{"one"}, Lost: []int64{4711}},
		},
		"the id of a state that is one of an application": {
			`{"application":{"id":4711,"reference":"team.lost","status":{"id":1}}}`,
			matched{Mandates: []string{"one"}, Lost: []int64{4711}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			mandates, unknown := x.match(testKey, Candidates(mediaJSON, []byte(c.body)))
			got := matched{names(mandates), unknown}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the match (-want +got):\n%s", diff)
			}
		})
	}
	other := testKey
	other.Name = "other"
	mandates, _ := x.match(other, Candidates(mediaJSON, []byte(`{"id":1,"reference":"team.lost"}`)))
	if len(mandates) > 0 || len(x.toWrite(other, peers{other: other.NewService()}, nil)) > 0 {
		t.Errorf("another connection finds %v, or waits", mandates)
	}
}

// The index is what the Mandates are, however they came to be it.
func TestIndexFollows(t *testing.T) {
	x := NewIndex()
	matches := func(body string) []string {
		mandates, _ := x.match(testKey, Candidates(mediaJSON, []byte(body)))
		if len(x.toWrite(testKey, peers{testKey: testKey.NewService()}, nil)) > 0 {
			return append(names(mandates), "somebody waits")
		}
		return names(mandates)
	}
	want := func(what, body string, names ...string) {
		t.Helper()
		if got := matches(body); !slices.Equal(got, names) {
			t.Errorf("%s: %s finds %q, want %q", what, body, got, names)
		}
	}
	lost, one := waitingMandate("one"), bound("one", 1, 10)
	x.OnAdd(lost, false)
	want("it waits", `{"id":7}`, "somebody waits")
	x.OnUpdate(lost, one)
	want("it is bound", `{"id":7}`)
	want("it is bound", `{"id":1}`, "one")
	reset := bound("one", 1, 12)
	x.OnUpdate(one, reset)
	want("another individual", `{"individual_id":10}`)
	want("another individual", `{"individual_id":12}`, "one")
	x.OnAdd(bound("two", 2, 12), false)
	x.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "team/one", Obj: reset})
	want("one is gone", `{"reference":"team.one"}`)
	want("two has the individual", `{"individual_id":12}`, "two")
	moved := bound("two", 2, 12)
	moved.Spec.ServiceRef.Name = "other"
	x.OnUpdate(bound("two", 2, 12), moved)
	want("two has another connection", `{"id":2}`)
	x.OnDelete(moved)
	if len(x.mandates)+len(x.waiting) != 0 {
		t.Errorf("the index has %v and %v without a Mandate", x.mandates, x.waiting)
	}
}

// A Mandate costs about 200 bytes beside its name, which the cache has. The median of some rounds, because what earlier
// tests leave behind is collected during the first ones.
func TestIndexIsSmall(t *testing.T) {
	const mandates, rounds = 20_000, 5
	const least, most = 100, 300
	all := make([]*v1alpha1.Mandate, mandates)
	for i := range all {
		all[i] = bound(fmt.Sprintf("mandate-%06d", i), int64(i+1), int64(3*i+1), int64(3*i+2), int64(3*i+3))
		all[i].Status.Reference = strings.ToUpper(all[i].Status.Reference)
	}
	var each []int64
	for range rounds {
		before, x := inUse(), NewIndex()
		for _, m := range all {
			x.OnAdd(m, true)
		}
		each = append(each, (inUse()-before)/mandates)
		runtime.KeepAlive(x)
	}
	runtime.KeepAlive(all)
	slices.Sort(each)
	t.Logf("bytes for each Mandate: %d", each)
	if median := each[rounds/2]; median < least || median > most {
		t.Errorf("%d bytes for each Mandate, want %d to %d", median, least, most)
	}
}

func BenchmarkIndex(b *testing.B) {
	x := NewIndex()
	for i := range 100_000 {
		x.OnAdd(bound(fmt.Sprintf("mandate-%06d", i), int64(i+1), int64(3*i+1), int64(3*i+2), int64(3*i+3)), true)
	}
	body := []byte(shapes["nested"].body)
	b.ReportAllocs()
	for b.Loop() {
		x.match(testKey, Candidates(mediaJSON, body))
	}
}
