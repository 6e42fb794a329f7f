package sandbox

import (
	"net/http"

	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// permitted refuses an operation or an object that is not for this user.
func (a *account) permitted(r *request) error {
	if r.dialect.Forbids(r.operation.name) {
		return r.forbidden()
	}
	if r.id != 0 && r.dialect.ForbiddenObject == dialect.ForbiddenOdd {
		if application, exists := a.data.ApplicationOf(r.operation.name, r.id); exists && application%2 != 0 {
			return r.forbidden()
		}
	}
	return nil
}

// forbidden is a refusal of one thing. A problem is the service's own word, and a 401 of the service has a challenge.
func (r *request) forbidden() error {
	err := &statusError{
		status: http.StatusForbidden, title: "The user has no permission for this", body: r.dialect.ForbiddenAnswer,
	}
	if r.dialect.ForbiddenStatus == dialect.ForbiddenStatus401 {
		err.status = http.StatusUnauthorized
		if err.body == "" {
			err.header = challenge
		}
	}
	return err
}
