package mandate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// TestSpecDigests: another spec has other digests, in the field that is another one. What services change in texts does
// not count.
func TestSpecDigests(t *testing.T) {
	t.Parallel()
	empty := idv.Hide("")
	cases := map[string]struct {
		edit func(*v1alpha1.MandateSpec, *idv.NewApplication)
		want []string
	}{
		"the same": {edit: func(*v1alpha1.MandateSpec, *idv.NewApplication) {}},
		"other letters and spaces": {edit: func(_ *v1alpha1.MandateSpec, r *idv.NewApplication) {
			r.Name, r.Individuals[0].Email = idv.Hide(" ACME "), idv.Hide("Jane@Example.com")
		}},
		"another order": {edit: func(s *v1alpha1.MandateSpec, r *idv.NewApplication) {
			s.Individuals[0], s.Individuals[1] = s.Individuals[1], s.Individuals[0]
			r.Individuals[0], r.Individuals[1] = r.Individuals[1], r.Individuals[0]
		}},
		"another name": {
			edit: func(_ *v1alpha1.MandateSpec, r *idv.NewApplication) { r.Name = idv.Hide("Other") },
			want: []string{"spec.name"},
		},
		"another type": {
			edit: func(s *v1alpha1.MandateSpec, _ *idv.NewApplication) { s.MandateType.Code = "kyb" },
			want: []string{"spec.mandateType"},
		},
		"a type with that code for its name": {
			edit: func(s *v1alpha1.MandateSpec, _ *idv.NewApplication) {
				s.MandateType = v1alpha1.MandateTypeSelector{Name: "kyc"}
			},
			want: []string{"spec.mandateType"},
		},
		"another birth date": {
			edit: func(_ *v1alpha1.MandateSpec, r *idv.NewApplication) {
				r.Individuals[1].DateOfBirth = idv.Hide("1990-02-28")
			},
			want: []string{"spec.individuals[john]"},
		},
		"a first name as the last one": {
			edit: func(_ *v1alpha1.MandateSpec, r *idv.NewApplication) {
				one := &r.Individuals[0]
				one.FirstName, one.LastName = one.LastName, one.FirstName
			},
			want: []string{"spec.individuals[jane]"},
		},
		"an empty middle name": {
			edit: func(_ *v1alpha1.MandateSpec, r *idv.NewApplication) { r.Individuals[0].MiddleName = &empty },
			want: []string{"spec.individuals[jane]"},
		},
		"another handle": {
			edit: func(s *v1alpha1.MandateSpec, _ *idv.NewApplication) { s.Individuals[0].Name = "joan" },
			want: []string{"spec.individuals[joan]"},
		},
		"one person less": {
			edit: func(s *v1alpha1.MandateSpec, r *idv.NewApplication) {
				s.Individuals, r.Individuals = s.Individuals[:1], r.Individuals[:1]
			},
			want: []string{"spec.individuals"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec, request := twoPeople()
			recorded := specDigests("salt", spec, request)
			other, asked := twoPeople()
			c.edit(other, asked)
			if diff := cmp.Diff(c.want, digestDifferences(recorded, specDigests("salt", other, asked))); diff != "" {
				t.Errorf("the fields that differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpecDigestsAreKeyed: who can read a record cannot find out a detail by trying.
func TestSpecDigestsAreKeyed(t *testing.T) {
	t.Parallel()
	spec, request := twoPeople()
	one, other := specDigests("salt", spec, request), specDigests("other", spec, request)
	if want := []string{"spec.name", "spec.mandateType", "spec.individuals[jane]", "spec.individuals[john]"}; !cmp.Equal(
		want, digestDifferences(one, other)) {
		t.Errorf("with another salt, the digests of %v differ, want %v", digestDifferences(one, other), want)
	}
	stored, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"Acme", "kyc", "example.com", "Doe"} {
		if strings.Contains(string(stored), text) {
			t.Errorf("the digests contain %q", text)
		}
	}
}

func twoPeople() (*v1alpha1.MandateSpec, *idv.NewApplication) {
	return &v1alpha1.MandateSpec{
			MandateType: v1alpha1.MandateTypeSelector{Code: "kyc"},
			Individuals: []v1alpha1.Individual{{Name: "jane"}, {Name: "john"}},
		}, &idv.NewApplication{Name: idv.Hide("Acme"), Individuals: []idv.NewIndividual{
			{Email: idv.Hide("jane@example.com"), FirstName: idv.Hide("Jane"), LastName: idv.Hide("Doe")},
			{Email: idv.Hide("john@example.com"), DateOfBirth: idv.Hide("1980-01-01")},
		}}
}
