{{/* The flags of the operator, as a YAML list. */}}
{{- define "mandate-operator.args" -}}
{{- $args := list
  "--leader-elect"
  (printf "--leader-election-id=%s" (include "mandate-operator.leaderElectionID" .))
  "--health-probe-bind-address=:8081"
  (printf "--metrics-bind-address=%s" (.Values.metrics.enabled | ternary ":8443" "0"))
  (printf "--metrics-secure=%t" .Values.metrics.secure)
  (printf "--separate-receiver=%t" (and .Values.notifications.enabled .Values.notifications.separate))
  (printf "--notification-bind-address=%s"
    (and .Values.notifications.enabled (not .Values.notifications.separate) | ternary ":8082" "0"))
  (printf "--notification-capture=%t" .Values.notifications.capture)
  (printf "--allowed-hosts=%s" (join "," .Values.allowedHosts))
  (printf "--allow-loopback-http=%t" .Values.allowLoopbackHTTP)
  (printf "--max-concurrent-reconciles=%d" (int .Values.maxConcurrentReconciles))
  (printf "--min-poll-interval=%s" .Values.minPollInterval)
  (printf "--settle-delay=%s" .Values.settleDelay)
  (printf "--record-retention=%s" .Values.recordRetention)
  (printf "--deletion-give-up-after=%s" .Values.deletionGiveUpAfter)
  (printf "--zap-log-level=%s" .Values.logLevel) }}
{{- with .Values.watchNamespaces }}
{{- $args = append $args (printf "--watch-namespaces=%s" (join "," .)) }}
{{- end }}
{{- with .Values.maxRequestsPerSecond }}
{{- $args = append $args (printf "--max-requests-per-second=%d" (int .)) }}
{{- end }}
{{- with .Values.metrics.certificateSecret }}
{{- $args = append $args "--metrics-cert-path=/etc/mandate-operator/metrics" }}
{{- end }}
{{- $names := list "watch-namespaces" "metrics-cert-path" "leader-election-namespace" "max-requests-per-second" }}
{{- range $args }}
{{- $names = append $names (regexFind "[a-z-]+" (trimPrefix "--" .)) }}
{{- end }}
{{- range .Values.extraArgs }}
{{- $name := regexFind "^[^=]+" (. | trimPrefix "-" | trimPrefix "-") }}
{{- if has $name $names }}
{{- fail (printf "extraArgs: the chart sets --%s itself: remove it, and set the value that belongs to it" $name) }}
{{- end }}
{{- end }}
{{- concat $args .Values.extraArgs | toYaml }}
{{- end }}

{{/* The flags of the receiver that runs separately. */}}
{{- define "mandate-operator.receiverArgs" -}}
{{- $args := list
  "receive"
  "--health-probe-bind-address=:8081"
  (printf "--metrics-bind-address=%s" (.Values.metrics.enabled | ternary ":8443" "0"))
  (printf "--metrics-secure=%t" .Values.metrics.secure)
  "--notification-bind-address=:8082"
  (printf "--notification-capture=%t" .Values.notifications.capture)
  (printf "--zap-log-level=%s" .Values.logLevel) }}
{{- with .Values.watchNamespaces }}
{{- $args = append $args (printf "--watch-namespaces=%s" (join "," .)) }}
{{- end }}
{{- with .Values.metrics.certificateSecret }}
{{- $args = append $args "--metrics-cert-path=/etc/mandate-operator/metrics" }}
{{- end }}
{{- toYaml $args }}
{{- end }}
