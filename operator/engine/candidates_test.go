package engine

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The annotation is a text that anybody may write who may edit a Mandate.
func TestParseCandidates(t *testing.T) {
	for text, want := range map[string][]int64{
		"": nil, ",": nil, "x": nil, "0": nil, "-1": nil, "1.5": nil, "9007199254740992": nil, "1 OR 1": nil,
		"7": {7}, "9007199254740991": {9007199254740991}, "7,8": {7, 8}, " 8 , 7,8": {8, 7}, "7,x,8": {7, 8},
	} {
		if got := ParseCandidates(text); !slices.Equal(got, want) {
			t.Errorf("%q names %d, want %d", text, got, want)
		}
	}
	var many []string
	for i := range 100_000 {
		many = append(many, strconv.Itoa(i+1))
	}
	got := ParseCandidates(strings.Join(many, ","))
	if len(got) != 20 || got[0] != 99_981 || FormatCandidates(got[18:]) != "99999,100000" {
		t.Errorf("many name %d", got)
	}
}
