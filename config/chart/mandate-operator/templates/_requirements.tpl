{{/*
Refuses what cannot work. It looks at the CRDs themselves, because the API server takes seconds to serve the kind of a
new one. Only a real API server serves apiregistration.k8s.io: helm template sees no CRDs, and what --api-versions lists
counts instead, as with Argo CD.
*/}}
{{- define "mandate-operator.requirements" -}}
{{- if and .Values.requireCRDs (.Capabilities.APIVersions.Has "apiregistration.k8s.io/v1") }}
{{- range list "Mandate" "MandateAction" "IdentityService" "ClusterIdentityService" "ApplicationRecord" }}
{{- $crd := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" (printf "%ss.idv.mandate.io" (lower .)) }}
{{- if not (or $crd ($.Capabilities.APIVersions.Has (printf "idv.mandate.io/v1alpha1/%s" .))) }}
{{- fail (printf "the cluster has no CRD of the kind %s: install the chart mandate-operator-crds first" .) }}
{{- end }}
{{- with dig "metadata" "labels" "helm.sh/chart" "" $crd }}
{{- $version := trimPrefix "mandate-operator-crds-" . | replace "_" "+" }}
{{- if semverCompare (printf "<%s" $.Chart.Version) $version }}
{{- fail (printf "the CRDs are of version %s, older than %s: upgrade the chart mandate-operator-crds first" $version
  $.Chart.Version) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
