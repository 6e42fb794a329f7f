{{/*
Refuses what cannot work. A real API server serves apiregistration.k8s.io: without it, helm renders without a cluster,
and nobody knows which CRDs there are.
*/}}
{{- define "mandate-operator.requirements" -}}
{{- if and .Values.requireCRDs (.Capabilities.APIVersions.Has "apiregistration.k8s.io/v1") }}
{{- range list "Mandate" "MandateAction" "IdentityService" "ClusterIdentityService" "ApplicationRecord" }}
{{- if not ($.Capabilities.APIVersions.Has (printf "idv.mandate.io/v1alpha1/%s" .)) }}
{{- fail (printf "the cluster has no CRD of the kind %s: install the chart mandate-operator-crds first" .) }}
{{- end }}
{{- end }}
{{- $crd := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "mandates.idv.mandate.io" }}
{{- with dig "metadata" "labels" "helm.sh/chart" "" $crd }}
{{- $version := trimPrefix "mandate-operator-crds-" . | replace "_" "+" }}
{{- if semverCompare (printf "<%s" $.Chart.Version) $version }}
{{- fail (printf "the CRDs are of version %s, older than %s: upgrade the chart mandate-operator-crds first" $version
  $.Chart.Version) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
