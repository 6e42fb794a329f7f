package connection

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/client"
)

// A service that fails to subscribe keeps nobody from anything else, and fewer and fewer from subscribing.
func TestSubscriptionsOpenNoCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newCircuit(t)
		defer c.stop()
		admitted := func(class Class) (n int) {
			for n < 10 && c.tryAcquire(class) {
				n++
			}
			for range n {
				c.release(class)
			}
			return n
		}
		check := func(what string, want int) {
			t.Helper()
			synctest.Wait()
			if got := admitted(Subscription); got != want {
				t.Errorf("%s, %d may subscribe, want %d", what, got, want)
			}
			if reads, writes := admitted(Read), admitted(Write); reads != 10 || writes != 10 {
				t.Errorf("%s, %d may read and %d write", what, reads, writes)
			}
		}
		lost := &client.Error{Operation: client.OpSubscribeWebhook, Outcome: client.Unknown, Kind: client.KindTimeout}
		check("at first", maxSubscriptions)
		for range 5 {
			c.calls(client.OpSubscribeWebhook, lost)
		}
		check("after failures", 0)
		<-time.After(16 * minPause)
		check("after the pause", 1)
		c.calls(client.OpRetrieveWebhook, lost)
		check("after another failure", 0)
		<-time.After(maxPause)
		check("after the longest pause", 1)
		c.calls(client.OpSubscribeWebhook, nil)
		check("after a success", maxSubscriptions)
		if len(c.states) > 0 {
			t.Errorf("the circuit was %v", c.states)
		}
		c.calls(client.OpRetrieveApplication, lost, lost, lost)
		if admitted(Subscription) != 0 {
			t.Error("applications are subscribed while reads fail")
		}
	})
}

func TestSubscriptionsOf(t *testing.T) {
	t.Parallel()
	service := &v1alpha1.ClusterIdentityService{}
	service.Name = "shared"
	if SubscriptionsOf(service) != nil {
		t.Error("a service without notifications is subscribed")
	}
	service.Spec.Notifications = &v1alpha1.ClusterNotifications{
		SecretRef: v1alpha1.NamespacedSecretReference{Namespace: "platform", Name: "tokens"},
		Subscribing: v1alpha1.Subscribing{
			URL: "https://hooks.example.com", FieldNames: v1alpha1.SubscriptionFieldNames{URL: "target_url"},
		},
	}
	if SubscriptionsOf(service) != nil {
		t.Error("a service is subscribed by default")
	}
	service.Spec.Notifications.Subscribe = v1alpha1.SubscribeApplication
	got := SubscriptionsOf(service)
	if got == nil || got.Path != "/notifications/-/shared" || got.Secret.Namespace != "platform" ||
		len(got.FieldNames) != 1 || got.FieldNames["url"] != "target_url" {
		t.Errorf("its applications are subscribed with %+v", got)
	}
}
