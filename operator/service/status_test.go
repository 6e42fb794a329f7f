package service

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	idv "github.com/mandate-io/idv/internal/client"
)

// No reference data makes a status that the API server refuses.
func TestMandateTypesAreBounded(t *testing.T) {
	long := strings.Repeat("<", 300)
	for name, c := range map[string]struct {
		n         int
		text      string
		truncated bool
	}{
		"a few":                {20, "Know your customer", false},
		"as many as fit":       {maxMandateTypes, "KYC", false},
		"more":                 {maxMandateTypes + 1, "KYC", true},
		"long":                 {2000, long, true},
		"one that is too long": {1, long, true},
		"unprintable":          {1, "\x1b[31m", true},
	} {
		references := &idv.References{}
		for i := range c.n {
			references.MandateTypes = append(references.MandateTypes,
				idv.Reference{ID: int64(i + 1), Name: c.text, Code: fmt.Sprint(i) + c.text})
		}
		types, truncated := mandateTypes(references)
		encoded, err := json.Marshal(types)
		if err != nil || len(encoded) > maxShown || truncated != c.truncated || !truncated && len(types) != c.n {
			t.Errorf("%s: %d types, %d bytes, truncated %t, %v", name, len(types), len(encoded), truncated, err)
		}
	}
}

// What a service lists in another order, twice or with another description is the same reference data.
func TestSelectableReferences(t *testing.T) {
	kyc, kyb := idv.Reference{ID: 1, Code: "kyc"}, idv.Reference{ID: 2, Code: "kyb"}
	described := kyb
	described.Description = "of companies"
	want := []idv.Reference{kyc, kyb}
	for _, listed := range [][]idv.Reference{{kyc, kyb}, {kyb, kyc}, {described, kyc, kyb}} {
		got := selectableReferences(&idv.References{MandateTypes: listed}).MandateTypes
		if !slices.Equal(got, want) {
			t.Errorf("%+v became %+v", listed, got)
		}
	}
}
