// Package argocd tests examples/gitops with a real Argo CD: its application controller and its repo server apply them,
// as they are, to a real API server, while the operator and the sandbox run. After each step, the test counts the
// e-mails. Run it with
//
//	make test-gitops
//
// Argo CD clones the repository over HTTPS from git, and pulls the charts from a registry, which the test serves under
// the names of the examples. What the web interface and the CLI of Argo CD do, the test does as they do: in the fields
// and annotations of an Application.
package argocd
