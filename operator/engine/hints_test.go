package engine

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// The annotation is a text that anybody may write who may edit a Mandate, and replicas have clocks of their own.
func TestNotificationRequest(t *testing.T) {
	now := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	const at, before = v1alpha1.NotificationRequestPrefix + "2026-11-22T19:00:00Z", "2026-11-22T18:59:5"
	for text, want := range map[string]struct {
		wait time.Duration
		next string
	}{
		"":                                       {0, at},
		"2026-11-22T19:00:00Z":                   {0, at},
		"notification/now":                       {0, at},
		"notification/" + at:                     {0, at},
		at:                                       {time.Second, at + "/2"},
		at + "/":                                 {time.Second, at + "/2"},
		at + "/2":                                {time.Second, at + "/3"},
		at + "/3":                                {10 * time.Second, at + "/3"},
		at + "/99":                               {10 * time.Second, at + "/3"},
		at + "/-1":                               {time.Second, at + "/2"},
		"notification/" + before + "5Z":          {0, at + "/2"},
		"notification/" + before + "5Z/3":        {5 * time.Second, at + "/3"},
		"notification/" + before + "0Z/3":        {0, at + "/3"},
		"notification/2026-11-22T18:59:40Z/3":    {0, at + "/2"},
		"notification/2026-11-22T18:59:30Z/3":    {0, at},
		"notification/2026-11-22T20:00:00Z/3":    {10 * time.Second, at + "/3"},
		"notification/2026-11-22T21:00:00+01:00": {time.Second, at + "/2"},
	} {
		n := ParseNotificationRequest(text)
		if got := max(n.Wait(now), 0); got != want.wait {
			t.Errorf("after %q, the next one waits %s, want %s", text, got, want.wait)
		}
		if got := n.Next(now).String(); got != want.next {
			t.Errorf("after %q, the next one is %s, want %s", text, got, want.next)
		}
	}
}

// The annotation is a text that anybody may write who may edit a Mandate.
func TestIDsIn(t *testing.T) {
	read := func(text string) []int64 {
		m := MetadataOf("Mandate", client.ObjectKey{})
		m.Annotations = map[string]string{v1alpha1.CandidateAnnotation: text}
		return IDsIn(m, v1alpha1.CandidateAnnotation)
	}
	for text, want := range map[string][]int64{
		"": nil, ",": nil, "x": nil, "0": nil, "-1": nil, "1.5": nil, "9007199254740992": nil, "1 OR 1": nil,
		"7": {7}, "9007199254740991": {9007199254740991}, "7,8": {7, 8}, " 8 , 7,8": {8, 7}, "7,x,8": {7, 8},
	} {
		if got := read(text); !slices.Equal(got, want) {
			t.Errorf("%q names %d, want %d", text, got, want)
		}
	}
	var many []string
	for i := range 100_000 {
		many = append(many, strconv.Itoa(i+1))
	}
	got := read(strings.Join(many, ","))
	if len(got) != 20 || got[0] != 99_981 || FormatIDs(got[18:]) != "99999,100000" {
		t.Errorf("many name %d", got)
	}
}
