// Package flux tests examples/gitops with a real Flux: its kustomize-controller applies them, as they are, to a real
// API server, while the operator and the sandbox run. After each step, the test counts the e-mails. Run it with
//
//	make test-gitops
//
// The test plays two parts of Flux itself: the source-controller, which fetches a Git repository and serves it as an
// archive, and the notification-controller, which receives events. The helm-controller does not run: the API server
// validates the HelmReleases, and no more.
package flux
