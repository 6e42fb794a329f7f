package dialect

// The values other than the default of the switches about reference data and webhooks. The default is "".
const (
	ReferencesApplicationTypes   = "application_types"
	ReferencesMap                = "map"
	ReferencesStringIDs          = "string_ids"
	ReferencesFlat               = "flat"
	ReferencesData               = "data"
	ReferencesMoreLists          = "more_lists"
	ReferencesPaged              = "paged"
	SubscribeRenamed             = "renamed"
	SubscribeEventsRequired      = "required"
	SubscribeApplicationRequired = "required"
	SubscribeApplicationRefused  = "refused"
	SubscribeWithoutID           = "without_id"
	Subscribe201                 = "201"
	Subscribe202                 = "202"
	Subscribe204                 = "204"
	SubscribeTwiceReplaced       = "replaced"
	SubscribeTwiceRefused        = "refused"
	SubscribeRequiredSecret      = "secret"
	SubscribeRequiredName        = "name"
	HandshakeGet                 = "get_challenge"
	HandshakePost                = "post_validation"
	SubscriptionsOnePerAccount   = "one_per_account"
	SubscriptionsOnePerURL       = "one_per_url"
	WebhookList                  = "list"
	WebhookWrapped               = "wrapped"
	Webhook404                   = "404"
	NoWebhooks404                = "404"
	NoWebhooksEmpty              = "empty_list"
	DeliveriesTwice              = "twice"
	DeliveriesLate               = "late"
	DeliveriesOutOfOrder         = "out_of_order"
	DeliveriesNever              = "never"
	DeliveryFlat                 = "flat"
	DeliveryWrapped              = "wrapped"
	DeliveryStringIDs            = "string_ids"
	DeliveryList                 = "list"
	DeliveryBatch                = "batch"
	DeliveryThin                 = "thin"
	DeliveryIndividualOnly       = "individual_only"
	DeliveryReferenceOnly        = "reference_only"
	DeliveryForm                 = "form"
	DeliveryEmpty                = "empty"
	DeliveredOnly200             = "only_200"
)

var webhooks = []definition{
	{"references", "the shape of the reference data: named lists, lists with other names, maps from code to name, " +
		"ids as strings, one list with a type member, wrapped in data, with lists about other things, or in pages of four",
		[]string{
			"lists", ReferencesApplicationTypes, ReferencesMap, ReferencesStringIDs, ReferencesFlat, ReferencesData,
			ReferencesMoreLists, ReferencesPaged,
		}},
	{"subscribeFields", "the field names of a subscription: url, events, application_id; " +
		"or target_url, event_types, mandate_id",
		[]string{"standard", SubscribeRenamed}},
	{"subscribeEvents", "whether a subscription must name events",
		[]string{"optional", SubscribeEventsRequired}},
	{"subscribeApplication", "whether a subscription may, must or must not name an application",
		[]string{"optional", SubscribeApplicationRequired, SubscribeApplicationRefused}},
	{"subscribeAnswer", "the response of subscribe: an object with or without id, 201 with the object, " +
		"or 202 or 204 without a body",
		[]string{"object", SubscribeWithoutID, Subscribe201, Subscribe202, Subscribe204}},
	{"subscribeTwice", "what a second subscription of the same URL and application does",
		[]string{"appended", SubscribeTwiceReplaced, SubscribeTwiceRefused}},
	{"subscribeRequired", "which further field a subscription must have",
		[]string{"none", SubscribeRequiredSecret, SubscribeRequiredName}},
	{"subscribeHandshake", "what the URL must answer before a subscription is accepted: nothing, " +
		"a GET with ?challenge=TEXT, or a POST with validationToken; the response has the text in it",
		[]string{"none", HandshakeGet, HandshakePost}},
	{"subscriptions", "how many subscriptions there can be; of too many, the last one stays",
		[]string{"many", SubscriptionsOnePerAccount, SubscriptionsOnePerURL}},
	{"retrieveWebhook", "the response of retrieve webhook: the newest subscription, a list, a list in an object, " +
		"or always 404",
		[]string{"object", WebhookList, WebhookWrapped, Webhook404}},
	{"noWebhooks", "the response of retrieve webhook without a subscription: 404 for objects and " +
		"an empty list for lists, always 404, or always an empty list",
		[]string{"by_shape", NoWebhooks404, NoWebhooksEmpty}},
	{"deliveries", "how webhook deliveries are sent: once, twice, two seconds late, every second one late, or never",
		[]string{"once", DeliveriesTwice, DeliveriesLate, DeliveriesOutOfOrder, DeliveriesNever}},
	{"deliveryShape", "the body of a webhook delivery: nested objects, flat, wrapped in data, ids as strings, " +
		"a list of one event, all events of half a second, only an id and the event, only the individual, " +
		"only a reference, a form, or no body; ids and memberCase apply too",
		[]string{
			"nested", DeliveryFlat, DeliveryWrapped, DeliveryStringIDs, DeliveryList, DeliveryBatch,
			DeliveryThin, DeliveryIndividualOnly, DeliveryReferenceOnly, DeliveryForm, DeliveryEmpty,
		}},
	{"deliveredStatus", "which response to a delivery counts: any 2xx, or only 200; " +
		"then a subscription without it is disabled after the last attempt",
		[]string{"any_2xx", DeliveredOnly200}},
}
