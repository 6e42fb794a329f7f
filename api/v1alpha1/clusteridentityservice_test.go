package v1alpha1_test

import "maps"

// clusterIdentityServiceSuite has all that is tried on the settings of an IdentityService, too: it has the same ones.
var clusterIdentityServiceSuite = suite{
	manifest: `
apiVersion: idv.mandate.io/v1alpha1
kind: ClusterIdentityService
metadata: {name: shared}
spec:
  baseURL: https://idv.example.com
  credentialsSecretRef: {namespace: platform, name: idv}
`,
	create: both(identityServiceSuite.create, map[string]attempt{
		"a selector": {
			edit: `spec: {namespaceSelector: {matchLabels: {team: onboarding},
			matchExpressions: [{key: stage, operator: In, values: [test, live]}]}}`,
		},
		"a selector of every namespace": {edit: `spec: {namespaceSelector: {}}`},
		"a Secret in no namespace": {edit: `spec: {credentialsSecretRef: {namespace: null}}`,
			want: []violation{{"spec.credentialsSecretRef.namespace", "Required value"}}},
	}),
}

func both(one, other map[string]attempt) map[string]attempt {
	all := maps.Clone(one)
	maps.Copy(all, other)
	return all
}
