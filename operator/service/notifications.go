package service

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/secrets"
)

// notificationMessages of the condition NotificationsUnavailable, one a reason.
var notificationMessages = map[string]string{
	v1alpha1.ReasonNotificationSecretNotFound: "The Secret that spec.notifications.secretRef names does not exist, so " +
		"the operator refuses all deliveries. Create it, or correct the name.",
	v1alpha1.ReasonNotificationSecretNotForThis: "The Secret that spec.notifications.secretRef names is not for " +
		"notifications. If it is meant for that, run: kubectl label secret NAME idv.mandate.io/use=notifications",
	v1alpha1.ReasonNotificationSecretForbidden: "The operator may not read the Secret that spec.notifications.secretRef " +
		"names. Bind the operator's ClusterRole in the Secret's namespace, or move the Secret.",
	v1alpha1.ReasonNotificationSecretInvalid: "The Secret that spec.notifications.secretRef names needs the key token. " +
		"It and previousToken, if present, need 32 characters or more, and no white space.",
	v1alpha1.ReasonNotificationsDisabled: "The operator runs without --separate-receiver and " +
		"--notification-bind-address, so nothing is received. Set one of them, or remove spec.notifications.",
}

// receiving is what is known of the tokens of deliveries.
type receiving struct {
	problem string   // why deliveries are refused: a reason, or ""
	digests []string // of the tokens that are good
}

// receiving reads the tokens of deliveries. If the Secret cannot be read now, they are those that were known before:
// the connection must not depend on it.
func (r *Reconciler) receiving(ctx context.Context, service connection.Service, before receiving) receiving {
	ref := service.NotificationsSecret()
	switch {
	case ref == nil:
		return receiving{}
	case !r.config.Notifications:
		return receiving{problem: v1alpha1.ReasonNotificationsDisabled}
	}
	secret, err := secrets.Get(ctx, r.config.Live, *ref, v1alpha1.SecretUseNotifications)
	problem := problemOf(err, v1alpha1.ReasonNotificationSecretNotFound, v1alpha1.ReasonNotificationSecretForbidden,
		v1alpha1.ReasonNotificationSecretNotForThis)
	switch {
	case problem != "":
		return receiving{problem: problem}
	case err != nil:
		return before
	}
	var found receiving
	for _, key := range []string{receiver.KeyToken, receiver.KeyPreviousToken} {
		value, given := secret.Data[key]
		if token, good := receiver.TokenOf(value); good {
			found.digests = append(found.digests, receiver.Digest(token))
		} else if given || key == receiver.KeyToken {
			found.problem = v1alpha1.ReasonNotificationSecretInvalid
		}
	}
	if _, fits := receiver.PayloadOf(secret.Data[receiver.KeyPayload]); !fits {
		found.problem = v1alpha1.ReasonNotificationSecretInvalid
	}
	return found
}

// receivedTimeInterval is how often the status shows that notifications arrive.
const receivedTimeInterval = 10 * time.Minute

// showNotifications shows where to send notifications, with which tokens, why they are refused, and when one was last
// about an application.
func showNotifications(
	service connection.Service, status *v1alpha1.IdentityServiceStatus, found receiving, last time.Time,
) {
	setWarning(status, service.GetGeneration(), v1alpha1.ConditionNotificationsUnavailable, found.problem,
		notificationMessages[found.problem])
	if service.NotificationsSecret() == nil {
		status.Notifications = nil
		return
	}
	if status.Notifications == nil {
		status.Notifications = &v1alpha1.NotificationsStatus{}
	}
	status.Notifications.Path = connection.KeyOfService(service).NotificationPath()
	status.Notifications.TokenDigests = found.digests
	before := lastNotified(service)
	if last.Sub(before) >= receivedTimeInterval || !last.IsZero() && before.After(time.Now()) {
		status.Notifications.LastReceivedTime = &metav1.Time{Time: last}
	}
}

// lastNotified is when a notification was last about an application; zero if none is taken any more.
func lastNotified(service connection.Service) time.Time {
	shown := service.ServiceStatus().Notifications
	if service.NotificationsSecret() == nil || shown == nil || shown.LastReceivedTime == nil {
		return time.Time{}
	}
	return shown.LastReceivedTime.Time
}
