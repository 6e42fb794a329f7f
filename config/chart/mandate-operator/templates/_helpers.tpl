{{- define "mandate-operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 23 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end }}

{{- define "mandate-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "mandate-operator.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name
  | required "serviceAccount.name is empty: name a ServiceAccount that exists, or set serviceAccount.create" -}}
{{- end -}}
{{- end }}

{{- define "mandate-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The receiver of notifications that runs separately has Pods, an account and flags of its own. */}}
{{- define "mandate-operator.receiverLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-receiver
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mandate-operator.receiverAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.receiverName | default (printf "%s-receiver" (include "mandate-operator.fullname" .)) -}}
{{- else -}}
{{- .Values.serviceAccount.receiverName | required
  "serviceAccount.receiverName is empty: name a ServiceAccount that exists, or set notifications.separate to false" -}}
{{- end -}}
{{- end }}

{{- define "mandate-operator.labels" -}}
{{- $labels := include "mandate-operator.selectorLabels" . | fromYaml }}
{{- $_ := set $labels "app.kubernetes.io/part-of" .Chart.Name }}
{{- $_ := set $labels "app.kubernetes.io/version" (.Chart.AppVersion | replace "+" "_") }}
{{- $_ := set $labels "app.kubernetes.io/managed-by" .Release.Service }}
{{- $_ := set $labels "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") }}
{{- merge $labels .Values.labels | toYaml }}
{{- end }}

{{/* Metadata of an object: takes root, name, and for some objects namespaced, labels and annotations. */}}
{{- define "mandate-operator.metadata" -}}
name: {{ .name }}
{{- if .namespaced }}
namespace: {{ .root.Release.Namespace }}
{{- end }}
labels:
  {{- merge (include "mandate-operator.labels" .root | fromYaml) (.labels | default dict) | toYaml | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* An object of a file that config has too: takes root, text, and another name if it has one here. */}}
{{- define "mandate-operator.object" -}}
{{- $object := fromYaml .text }}
{{- if $object.Error }}{{ fail $object.Error }}{{ end }}
{{- $metadata := dict "root" .root "name" (.name | default $object.metadata.name)
  "namespaced" (hasKey $object.metadata "namespace")
  "labels" $object.metadata.labels "annotations" $object.metadata.annotations }}
{{- $_ := set $object "metadata" (include "mandate-operator.metadata" $metadata | fromYaml) }}
{{- toYaml $object }}
{{- end }}

{{/* Binds a ClusterRole to the operator, or another account, in the whole cluster or in watchNamespaces: takes root, role
and account. */}}
{{- define "mandate-operator.bindings" -}}
{{- $role := .role }}
{{- $root := .root }}
{{- $account := .account }}
{{- range $namespace := $root.Values.watchNamespaces | default (list "") }}
{{- include "mandate-operator.binding" (dict "root" $root "role" $role "namespace" $namespace "account" $account) }}
{{- end }}
{{- end }}

{{/* Binds a ClusterRole to the operator, or another account, in one namespace or, without it, in the whole cluster: takes
root, role, namespace, account, and one more account. */}}
{{- define "mandate-operator.binding" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ empty .namespace | ternary "ClusterRoleBinding" "RoleBinding" }}
metadata:
  {{- include "mandate-operator.metadata" (dict "root" .root "name" .role) | nindent 2 }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .role }}
subjects:
- kind: ServiceAccount
  name: {{ .account | default (include "mandate-operator.serviceAccountName" .root) }}
  namespace: {{ .root.Release.Namespace }}
{{- with .another }}
- kind: ServiceAccount
  name: {{ . }}
  namespace: {{ $.root.Release.Namespace }}
{{- end }}
{{- end }}

{{- define "mandate-operator.leaderElectionID" -}}
{{- .Values.leaderElectionID | default (printf "%s.idv.mandate.io" (include "mandate-operator.fullname" .)) -}}
{{- end }}
