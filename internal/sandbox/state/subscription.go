package state

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// Subscription is a webhook subscription.
type Subscription struct {
	ID  int64
	URL string
	// Events limits the deliveries to these events; empty means all.
	Events []string
	// ApplicationID limits the deliveries to one application; 0 means all.
	ApplicationID int64
	// Disabled subscriptions get no more deliveries.
	Disabled bool
	// Others are the other members of the request, unchanged.
	Others map[string]json.RawMessage
}

// Notification is one webhook delivery to send.
type Notification struct {
	SubscriptionID int64
	URL            string
	Event          string
	ApplicationID  int64
	Payload        Payload
	// Individual is the one that it is about, or else the first one of the application.
	Individual IndividualSubject
}

// Payload is the body of a webhook delivery. Its shape is our reading. It has ids and
// the application's reference, and no personal data.
type Payload struct {
	Event        string    `json:"event"`
	Time         time.Time `json:"time"`
	Application  Subject   `json:"application"`
	IndividualID int64     `json:"individual_id,omitempty"`
}

// Subject is the application of a webhook delivery.
type Subject struct {
	ID        int64   `json:"id"`
	Reference *string `json:"reference"`
	Status    Status  `json:"status"`
}

// IndividualSubject is the individual of a webhook delivery.
type IndividualSubject struct {
	ID        int64
	Reference string
}

// Subscribe adds a subscription and returns it with its id. The application need
// not exist: our reading.
func (a *Account) Subscribe(s Subscription) (Subscription, error) {
	defer a.lock()()
	s.ID = a.nextID(&a.ids.other)
	err := a.carryOut(control.SubscribeWebhook, func() (func(), error) {
		d := a.dialect.Get()
		same := func(other Subscription) bool { return other.URL == s.URL && other.ApplicationID == s.ApplicationID }
		if d.SubscribeTwice == dialect.SubscribeTwiceRefused && slices.ContainsFunc(a.subscriptions, same) {
			return nil, &RefusedError{Reason: "this URL already has a subscription"}
		}
		return func() {
			a.subscriptions = slices.DeleteFunc(a.subscriptions, func(other Subscription) bool {
				return d.SubscribeTwice == dialect.SubscribeTwiceReplaced && same(other) ||
					d.Subscriptions == dialect.SubscriptionsOnePerURL && other.URL == s.URL ||
					d.Subscriptions == dialect.SubscriptionsOnePerAccount
			})
			a.subscriptions = append(a.subscriptions, s)
		}, nil
	})
	return s, err
}

// Disable ends the deliveries of a subscription.
func (a *Account) Disable(id int64) {
	defer a.lock()()
	for i := range a.subscriptions {
		if a.subscriptions[i].ID == id {
			a.subscriptions[i].Disabled = true
		}
	}
}

// Subscriptions returns the subscriptions of one application, oldest first.
func (a *Account) Subscriptions(applicationID int64) []Subscription {
	defer a.lock()()
	return slices.DeleteFunc(slices.Clone(a.subscriptions), func(s Subscription) bool {
		return s.ApplicationID != applicationID
	})
}

func (a *Account) unsubscribe(applicationID int64) {
	a.subscriptions = slices.DeleteFunc(a.subscriptions, func(s Subscription) bool {
		return s.ApplicationID == applicationID
	})
}

func (a *Account) publishCompletion(person *individual) {
	if person.done() && !person.completionPublished {
		person.completionPublished = true
		a.publish(person.application, "individual.completed", person.ID)
	}
}

func (a *Account) publish(app *application, event string, individualID int64) {
	about := app.individuals[max(0, slices.IndexFunc(app.individuals, func(i *individual) bool {
		return i.ID == individualID
	}))]
	for _, s := range a.subscriptions {
		wanted := len(s.Events) == 0 || slices.Contains(s.Events, event)
		if !wanted || s.Disabled || s.ApplicationID != 0 && s.ApplicationID != app.ID {
			continue
		}
		a.notify(Notification{
			SubscriptionID: s.ID, URL: s.URL, Event: event, ApplicationID: app.ID,
			Payload: Payload{
				Event: event, Time: a.clock.Now(), IndividualID: individualID,
				Application: Subject{ID: app.ID, Reference: app.Reference, Status: app.Status},
			},
			Individual: IndividualSubject{about.ID, about.Reference},
		})
	}
}
