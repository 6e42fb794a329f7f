package engine

import (
	"context"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// LogSend logs that a request which acts on people is about to be sent, and returns the logger for its answer. Kind,
// seq and attempt are those of the entry in the ApplicationRecord; without a record, there is only the kind. A process
// that is killed in between has logged the first of two lines, as its entry has no result.
func LogSend(ctx context.Context, kind v1alpha1.CallKind, entry *v1alpha1.Call, keysAndValues ...any) logr.Logger {
	logger := log.FromContext(ctx).WithValues(append([]any{"call", kind}, keysAndValues...)...)
	if entry != nil {
		logger = logger.WithValues("seq", entry.Seq, "attempt", entry.Nonce, "sends", entry.Sends)
	}
	logger.Info("Sending a request")
	return logger
}

// OutcomeOf is what the answer to a request proves, which the service may have accepted to carry out later.
func OutcomeOf(accepted bool, err error) idv.Outcome {
	if accepted && err == nil {
		return idv.Accepted
	}
	return idv.OutcomeOf(err)
}

// LogAnswer logs what the answer to the request proves.
func LogAnswer(logger logr.Logger, outcome idv.Outcome, err error) {
	logger = logger.WithValues("outcome", outcome.String())
	if err != nil {
		logger = logger.WithValues("error", err.Error())
	}
	switch {
	case outcome == idv.Accepted:
		logger.Info("The service accepted the request, and carries it out later")
	case err == nil:
		logger.Info("The service carried out the request")
	case outcome.NothingDone():
		logger.Info("The request did nothing")
	default:
		logger.Info("The service may or may not have carried out the request")
	}
}
