package main

const (
	emailHost        = "@e2e.example" // of the people of later steps
	sandboxNamespace = "idv-sandbox"
	sandboxHost      = "sandbox." + sandboxNamespace + ".svc.cluster.local"
	sandboxURL       = "https://" + sandboxHost
	// The credentials of README's example.
	username = "api-user"
	password = "change-me"
)

// sandboxManifest has the Secret sandbox-tls beside it.
const sandboxManifest = `
apiVersion: v1
kind: Secret
metadata: {name: sandbox-config, namespace: idv-sandbox}
stringData:
  sandbox.yaml: "accounts: [{username: api-user, password: change-me}]"
---
apiVersion: v1
kind: Service
metadata: {name: sandbox, namespace: idv-sandbox}
spec:
  selector: {app: sandbox}
  ports: [{port: 443, targetPort: 8443}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: sandbox, namespace: idv-sandbox}
spec:
  selector: {matchLabels: {app: sandbox}}
  template:
    metadata: {labels: {app: sandbox}}
    spec:
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile: {type: RuntimeDefault}
      volumes:
      - name: tls
        secret: {secretName: sandbox-tls}
      - name: config
        secret: {secretName: sandbox-config}
      containers:
      - name: sandbox
        image: registry.example.com/idv-sandbox:dev
        args:
        - --listen=:8443
        - --allow-remote
        - --remote-deliveries
        - --tls-cert-file=/tls/tls.crt
        - --tls-key-file=/tls/tls.key
        - --config=/config/sandbox.yaml
        volumeMounts: [{name: tls, mountPath: /tls}, {name: config, mountPath: /config}]
        readinessProbe: {httpGet: {path: /healthz, port: 8443, scheme: HTTPS}, periodSeconds: 1}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
`
