package connection

import (
	"github.com/mandate-io/idv/api/v1alpha1"
)

// Subscriptions says how each application of a connection is subscribed. It holds no token.
type Subscriptions struct {
	// URL is where the service reaches the receiver, without Path, which is that of the connection.
	URL, Path string
	// Secret has the token.
	Secret v1alpha1.NamespacedSecretReference
	Events []string
	// FieldNames are the service's names for ours.
	FieldNames map[string]string
	// TokenDigests are those of the tokens that the receiver knows.
	TokenDigests []string
}

// SubscriptionsOf returns the subscription settings of a service; nil if the operator does not subscribe its
// applications.
func SubscriptionsOf(service Service) *Subscriptions {
	settings, secret := service.Subscribing(), service.NotificationsSecret()
	if settings == nil || settings.Subscribe != v1alpha1.SubscribeApplication || settings.URL == "" {
		return nil
	}
	names := map[string]string{}
	for ours, theirs := range map[string]string{
		"url":            settings.FieldNames.URL,
		"events":         settings.FieldNames.Events,
		"application_id": settings.FieldNames.ApplicationID,
	} {
		if theirs != "" {
			names[ours] = theirs
		}
	}
	subscriptions := &Subscriptions{
		URL: settings.URL, Path: KeyOfService(service).NotificationPath(), Secret: *secret,
		Events: settings.Events, FieldNames: names,
	}
	if shown := service.ServiceStatus().Notifications; shown != nil {
		subscriptions.TokenDigests = shown.TokenDigests
	}
	return subscriptions
}

// maxSubscriptions is how many reconciliations may subscribe by way of one connection at a time: a service that does
// not answer must hold up nothing else.
const maxSubscriptions = 2

// subscriptionPause keeps reconciliations from subscribing at a service that fails to: each answer that is lost is one
// that nobody may ever know.
type subscriptionPause struct{ pause }

// admits reports whether one more may subscribe, beside those that do. After a pause, one at a time does.
func (p *subscriptionPause) admits(subscribing int) bool {
	switch {
	case p.timer != nil:
		return false
	case p.length > 0:
		return subscribing == 0
	default:
		return subscribing < maxSubscriptions
	}
}
