package v1alpha1_test

import "fmt"

const (
	urlMissing = "is required with subscribe: Application: set it to the URL at which the service reaches the receiver, " +
		"such as https://hooks.example.com"
	notReceiver     = "must be a URL such as https://hooks.example.com"
	tooMuchReceiver = "must not contain a user, password, query or fragment"
	hasReceiverPath = "must not contain /notifications: remove it and what follows, the operator appends the path and " +
		"the token"
)

// subscribingAttempts are about spec.notifications, whose Secret has a namespace in one kind of service.
func subscribingAttempts(secretRef string) map[string]attempt {
	of := func(fields string, problems ...string) attempt {
		a := attempt{edit: fmt.Sprintf("spec: {notifications: {secretRef: %s, %s}}", secretRef, fields)}
		for _, problem := range problems {
			a.want = append(a.want, violation{"spec.notifications.url", problem})
		}
		return a
	}
	return map[string]attempt{
		"each application is subscribed":   of(`subscribe: Application, url: "https://hooks.example.com/idv"`),
		"a receiver on this machine":       of(`subscribe: Application, url: "http://127.0.0.1:8082"`),
		"nobody subscribes":                of(`subscribe: None`),
		"the receiver is for Terraform":    of(`url: "https://hooks.example.com"`),
		"the words of the service":         of(`events: [a, b], fieldNames: {url: u, events: e, applicationID: a}`),
		"a subscription without a URL":     of(`subscribe: Application`, urlMissing),
		"a receiver without TLS":           of(`url: "http://hooks.example.com"`, notHTTPS),
		"a receiver that is no URL":        of(`url: "hooks.example.com"`, notReceiver),
		"a receiver with a password":       of(`url: "https://user:x@hooks.example.com"`, tooMuchReceiver),
		"a receiver with a query":          of(`url: "https://hooks.example.com?token=x"`, tooMuchReceiver),
		"a receiver with the path and all": of(`url: "https://hooks.example.com/notifications/a/b/c"`, hasReceiverPath),
		"somebody unknown subscribes": {
			edit: fmt.Sprintf("spec: {notifications: {secretRef: %s, subscribe: Everybody}}", secretRef),
			want: []violation{{
				"spec.notifications.subscribe", `Unsupported value: "Everybody": supported values: "None", "Application"`,
			}},
		},
	}
}
