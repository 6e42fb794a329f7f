package v1alpha1

// Subscribing says who subscribes the operator's receiver at the service, and how.
//
// +kubebuilder:validation:XValidation:rule="!has(self.subscribe) || self.subscribe != 'Application' || has(self.url)",message="is required with subscribe: Application: set it to the URL at which the service reaches the receiver, such as https://hooks.example.com",fieldPath=".url"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || isURL(self.url) && url(self.url).getScheme() in ['https', 'http'] && url(self.url).getHostname().size() > 0",message="must be a URL such as https://hooks.example.com",fieldPath=".url"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !self.url.matches('(?i)^http:') || self.url.matches('(?i)^http://(localhost|127([.](25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})){3}|[[]::1[]])(:[0-9]*)?(/|$)')",message="must start with https://; http:// is only for localhost, 127.0.0.0/8 and [::1]",fieldPath=".url"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !self.url.matches('^[^/?#]*//[^/?#]*@') && !self.url.contains('?') && !self.url.contains('#')",message="must not contain a user, password, query or fragment",fieldPath=".url"
// +kubebuilder:validation:XValidation:rule="!has(self.url) || !self.url.contains('/notifications')",message="must not contain /notifications: remove it and what follows, the operator appends the path and the token",fieldPath=".url"
type Subscribing struct {
	// subscribe says who subscribes the operator's receiver at the service. None: Terraform or a person does, once for
	// all applications. Application: the operator subscribes each application that it creates, which takes one more
	// request for each Mandate. Use Application only if a subscription of your service covers one application. Default:
	// None.
	// +optional
	// +kubebuilder:default=None
	Subscribe Subscribe `json:"subscribe,omitempty"`

	// url is the address at which the service reaches the receiver, such as https://hooks.example.com. Required with
	// subscribe: Application. The operator appends /notifications/NAMESPACE/NAME/TOKEN, with - as the namespace of a
	// ClusterIdentityService. The URL must be https. http is allowed for localhost, 127.0.0.0/8 and [::1] only. The URL
	// can have a path. After a change, existing subscriptions keep the old URL.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`

	// events to subscribe to, in the service's own words, for subscribe: Application. Default: the operator sends no
	// events, and the service decides.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=150
	Events []string `json:"events,omitempty"`

	// fieldNames are the names that the service uses for the fields of a subscription, which it does not document.
	// +optional
	FieldNames SubscriptionFieldNames `json:"fieldNames,omitzero"`
}

// Subscribe is who subscribes the receiver at the service.
//
// +kubebuilder:validation:Enum=None;Application
type Subscribe string

const (
	// SubscribeNone leaves it to Terraform, or to a person.
	SubscribeNone Subscribe = "None"
	// SubscribeApplication has the operator subscribe each application that it creates.
	SubscribeApplication Subscribe = "Application"
)

// SubscriptionFieldNames are the names of the fields of a subscription at the service.
type SubscriptionFieldNames struct {
	// url is the name of the field with the URL. Default: url.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	URL string `json:"url,omitempty"`
	// events is the name of the field with the events. Default: events.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	Events string `json:"events,omitempty"`
	// applicationID is the name of the field with the id of the application. Default: application_id.
	// +optional
	// +kubebuilder:validation:MaxLength=150
	ApplicationID string `json:"applicationID,omitempty"`
}

// SubscriptionState is what is known of the webhook subscription of an application.
type SubscriptionState string

const (
	// SubscriptionSubscribed means that the service delivers to the receiver.
	SubscriptionSubscribed SubscriptionState = "Subscribed"
	// SubscriptionRefused means that the service refused the subscription.
	SubscriptionRefused SubscriptionState = "Refused"
	// SubscriptionOutcomeUnknown means that the subscription may exist: its answer was lost, and the service does not show
	// whether it does. Nothing more is sent.
	SubscriptionOutcomeUnknown SubscriptionState = "OutcomeUnknown"
	// SubscriptionNotCreated means that the operator did not create the application, and does not subscribe it.
	SubscriptionNotCreated SubscriptionState = "NotCreated"
)
