package config

import (
	"strings"
	"testing"
)

// The chart refuses a cluster without its CRDs. Without a cluster, as in helm template, nobody knows.
func TestChartNeedsCRDs(t *testing.T) {
	const aCluster = "--api-versions=apiregistration.k8s.io/v1"
	var all []string
	for _, kind := range []string{
		"Mandate", "MandateAction", "IdentityService", "ClusterIdentityService", "ApplicationRecord",
	} {
		all = append(all, "--api-versions=idv.mandate.io/v1alpha1/"+kind)
	}
	for name, tc := range map[string]struct {
		arguments []string
		want      string // what the error says; empty: there is none
	}{
		"no cluster":       {arguments: nil},
		"no CRDs":          {[]string{aCluster}, "no CRD of the kind Mandate: install the chart mandate-operator-crds first"},
		"some CRDs":        {append(all[:4:4], aCluster), "no CRD of the kind ApplicationRecord"},
		"all CRDs":         {append(all[:5:5], aCluster), ""},
		"nothing required": {[]string{aCluster, "--set=requireCRDs=false"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := in(t, env)
			output, err := c.tryHelm(append([]string{"template", "test", operatorChart}, tc.arguments...)...)
			if (err != nil) != (tc.want != "") || !strings.Contains(output, tc.want) {
				t.Errorf("%v, want an error that says %q\n%.500s", err, tc.want, output)
			}
		})
	}
}
