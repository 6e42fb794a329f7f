package plugin

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// createTimeout is how long the plugin repeats a create whose answer was lost, and answerTimeout how long it waits
// for one answer. An API server ends a request after a minute, and most of them within a second.
const (
	createTimeout = 45 * time.Second
	answerTimeout = 20 * time.Second
)

// create creates an action in the user's name, once, also if answers are lost: it repeats the create with the same name
// of the action, which no other one has. The operator carries a name out once, so a late repetition does no harm.
func (c *cluster) create(ctx context.Context, action *v1alpha1.MandateAction) error {
	c.sign(ctx, action)
	var lost error
	bounded, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	err := wait.PollUntilContextCancel(bounded, pollInterval, true, func(ctx context.Context) (bool, error) {
		err := c.createdNow(ctx, action, lost != nil)
		if err == nil || lost == nil && isRefused(err) {
			return err == nil, err
		}
		if lost == nil && ctx.Err() == nil {
			c.warn("%v; creating %s again, which creates it once", err, action.Name)
		}
		if lost == nil || ctx.Err() == nil {
			lost = apiError{err}
		}
		return false, nil
	})
	if !wait.Interrupted(err) {
		return explainError(err)
	}
	code := exitFailure
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = exitTimeout
	}
	return &exitError{code, fmt.Errorf("the MandateAction %s may have been created: %w\nDo not repeat the command before "+
		"you have looked, or it is done twice:\n  kubectl get mandateaction -n %s %s\nIf it exists, the operator carries it "+
		"out. If it does not exist a minute from now, repeat the command", action.Name, lost, action.Namespace, action.Name)}
}

// createdNow sends one create. A repetition can be refused although the action exists, for example by a quota, so that
// it also looks.
func (c *cluster) createdNow(ctx context.Context, action *v1alpha1.MandateAction, again bool) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	err := c.Create(ctx, action)
	switch {
	case apierrors.IsAlreadyExists(err): // nobody else chose this name
		return nil
	case err != nil && again && c.Get(ctx, client.ObjectKeyFromObject(action), action) == nil:
		return nil
	}
	return err
}
