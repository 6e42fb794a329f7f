{{/* A Deployment: takes root, name, container, selector, account, args, and whether it receives notifications. */}}
{{- define "mandate-operator.deployment" -}}
{{- $root := .root }}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "mandate-operator.metadata" (dict "root" $root "name" .name "namespaced" true) | nindent 2 }}
spec:
  replicas: {{ int $root.Values.replicas }}
  selector:
    matchLabels:
      {{- toYaml .selector | nindent 6 }}
  template:
    metadata:
      labels:
        {{- merge (dict) .selector $root.Values.podLabels $root.Values.labels
          | toYaml | nindent 8 }}
      annotations:
        {{- merge (dict "kubectl.kubernetes.io/default-container" .container) $root.Values.podAnnotations $root.Values.annotations
          | toYaml | nindent 8 }}
    spec:
      serviceAccountName: {{ .account }}
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- if eq .container "operator" }}
      # On SIGTERM the operator waits for a create in flight and stores its answer, which takes up to 20 seconds.
      terminationGracePeriodSeconds: 60
      {{- end }}
      securityContext:
        {{- toYaml $root.Values.podSecurityContext | nindent 8 }}
      {{- with $root.Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
      {{- $selector := dict "matchLabels" .selector }}
      {{- $spread := dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway"
        "matchLabelKeys" (list "pod-template-hash") }}
      {{- range $root.Values.topologySpreadConstraints | default (list $spread) }}
      - {{ merge (dict) . (dict "labelSelector" $selector) | toYaml | nindent 8 | trim }}
      {{- end }}
      {{- with $root.Values.metrics.certificateSecret }}
      volumes:
      - name: metrics-certificate
        secret:
          secretName: {{ . }}
      {{- end }}
      containers:
      - name: {{ .container }}
        {{- with $root.Values.image }}
        {{- $tag := .tag | default $root.Chart.AppVersion }}
        {{- $version := empty .digest | ternary (printf ":%s" $tag) (printf "@%s" .digest) }}
        image: {{ printf "%s%s" .repository $version | quote }}
        imagePullPolicy: {{ .pullPolicy }}
        {{- end }}
        args:
          {{- .args | nindent 8 }}
        env:
        # GOMEMLIMIT has as many megabytes as the memory limit has mebibytes, which is 95 % of the limit.
        - name: MEMORY_LIMIT_MIB
          valueFrom:
            resourceFieldRef:
              resource: limits.memory
              divisor: 1Mi
        - name: GOMEMLIMIT
          value: $(MEMORY_LIMIT_MIB)000000
        {{- with $root.Values.extraEnv }}
          {{- toYaml . | nindent 8 }}
        {{- end }}
        ports:
        {{- if $root.Values.metrics.enabled }}
        - name: metrics
          containerPort: 8443
        {{- end }}
        - name: probes
          containerPort: 8081
        {{- if .receives }}
        - name: notifications
          containerPort: 8082
        {{- end }}
        livenessProbe:
          httpGet:
            path: /healthz
            port: probes
          initialDelaySeconds: 15
          periodSeconds: 20
        readinessProbe:
          httpGet:
            path: /readyz
            port: probes
          initialDelaySeconds: 2
          periodSeconds: 10
        resources:
          {{- toYaml $root.Values.resources | nindent 10 }}
        securityContext:
          {{- toYaml $root.Values.securityContext | nindent 10 }}
        {{- if $root.Values.metrics.certificateSecret }}
        volumeMounts:
        - name: metrics-certificate
          mountPath: /etc/mandate-operator/metrics
          readOnly: true
        {{- end }}
{{- end }}
