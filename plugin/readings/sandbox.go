package readings

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mandate-io/idv/internal/sandbox/config"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Dialect are the findings that the sandbox has a switch for: as a dialect, and each as name=value. Of several findings
// of a point, the default yields: it is also what names of states show that all readings have.
func (r *Result) Dialect() (d dialect.Dialect, assignments []string) {
	found := map[string]string{}
	for _, f := range r.Findings {
		var alone dialect.Dialect
		if known := alone.Set(f.Point, f.Reading) == nil; known && (alone != dialect.Dialect{} || found[f.Point] == "") {
			found[f.Point] = f.Reading
		}
	}
	for _, point := range slices.Sorted(maps.Keys(found)) {
		_ = d.Set(point, found[point]) // as alone
		assignments = append(assignments, point+"="+found[point])
	}
	return d, assignments
}

// Sandbox is a file for idv-sandbox --config, with the dialect, the mandate types and the countries of the service.
// Nothing in it is about a person. Lists that a sandbox cannot have, such as a code for two types, are left out.
func (r *Result) Sandbox() (string, error) {
	d, _ := r.Dialect()
	known := config.Account{
		Username: config.DefaultUsername, Password: config.DefaultPassword,
		ClientID: config.DefaultClientID, ClientSecret: config.DefaultClientSecret, Dialect: d,
	}
	all := known
	if r.References != nil {
		for _, t := range r.References.MandateTypes {
			all.MandateTypes = append(all.MandateTypes, config.MandateType{
				ID: t.ID, Code: cmp.Or(t.Code, t.Name), Name: cmp.Or(t.Name, t.Code), Description: t.Description,
				Checks: []string{config.DocumentCheck, config.LivenessCheck, config.AddressCheck},
			})
		}
		for _, c := range r.References.Countries {
			all.Countries = append(all.Countries, config.Country{Code: cmp.Or(c.Code, c.Name), Name: cmp.Or(c.Name, c.Code)})
		}
	}
	if _, err := (config.Config{Accounts: []config.Account{all}}).Complete(); err != nil {
		all = known
	}
	file, err := config.Config{Accounts: []config.Account{all}}.Encode()
	return "# For idv-sandbox --config: it answers as " + r.Suggestion.Settings.BaseURL + " does, as far as reads\n" +
		"# show. The credentials are those of every sandbox. The checks of a mandate type are examples.\n" + string(file), err
}
