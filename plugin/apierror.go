package plugin

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// An apiError is an error of the API server in one printable line: it can quote what somebody else wrote.
type apiError struct{ error }

func (e apiError) Error() string { return printableLine(e.error.Error()) }

func (e apiError) Unwrap() error { return e.error }

// explainError says what to do about an error of the API server, where that is not obvious.
func explainError(err error) error {
	if err == nil {
		return nil
	}
	err = apiError{err}
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("the Mandate has changed since you saw it, and nothing was done; show its status, and repeat: %w",
			err)
	case meta.IsNoMatchError(err):
		return fmt.Errorf("%w; the CRDs are not installed in this cluster, or this is another cluster: look at "+
			"kubectl config current-context", err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w; %s", err, missingRole(err))
	}
	return err
}

// missingRole says which role has the permission that is missing.
func missingRole(err error) string {
	resource := ""
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok && status.ErrStatus.Details != nil {
		resource = status.ErrStatus.Details.Kind
	}
	switch resource {
	case "secrets":
		return "none of the ClusterRoles idv-viewer, idv-editor and idv-platform includes Secrets: ask for a Role that " +
			"can get them. check-connection needs none with --credentials-file"
	case "clusteridentityservices":
		return "a ClusterIdentityService is in no namespace: ask for a ClusterRoleBinding of idv-viewer to read it, or of " +
			"idv-platform to change or refresh it"
	}
	return "ask for the ClusterRole idv-viewer to read, idv-editor to change or, with config/policy, the role of the " +
		"verb; --all-namespaces needs a ClusterRoleBinding"
}

// isRefused reports whether an error says for certain that the API server did nothing, and would say the same again.
func isRefused(err error) bool {
	if meta.IsNoMatchError(err) {
		return true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	code := int(status.ErrStatus.Code)
	temporary := code == http.StatusRequestTimeout || code == http.StatusTooManyRequests
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && !temporary
}

// explainWrite is explainError for a change that does no harm twice: if the answer is lost, it may have been made.
func explainWrite(err error) error {
	if err == nil || isRefused(err) {
		return explainError(err)
	}
	return fmt.Errorf("the change may have been made: %w\nNext: repeat the command; that does no harm", apiError{err})
}
