// Package notification receives what the service sends to a webhook subscription. What a delivery looks like is not
// documented, and nobody signs it. So a delivery is a hint: all that it can cause is a read of an application, whatever
// it says, how often it comes, and no matter who sends it.
//
// A Receiver answers, candidates.go finds what a delivery may be about, an Index knows the Mandates, and a Notifier
// annotates them, so that the leader reads their applications, whichever replica received the delivery.
package notification
