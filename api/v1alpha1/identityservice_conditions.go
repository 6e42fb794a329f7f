package v1alpha1

// ServiceFinalizer keeps an IdentityService or ClusterIdentityService while Mandates need it. It is present only then.
const ServiceFinalizer = "idv.mandate.io/in-use"

// ConditionInUse is present, and True, only while an IdentityService or ClusterIdentityService is being deleted and
// Mandates still need it. Its reason is ReasonMandatesRemain, and its message says how many.
const ConditionInUse = "InUse"

// ReasonMandatesRemain is the reason of ConditionInUse.
const ReasonMandatesRemain = "MandatesRemain"

// ConditionApplicationsMissing is present, and True, only while the service does not find the applications of at least
// two Mandates, and the operator does not believe that they are gone. Its reason is ReasonApplicationsMissing.
const ConditionApplicationsMissing = "ApplicationsMissing"

// ReasonApplicationsMissing is the reason of ConditionApplicationsMissing.
const ReasonApplicationsMissing = "ApplicationsMissing"

// ConditionAccountChanged is present, and True, only while the credentials may belong to another account than the one
// that the applications of Mandates were created with, or some Mandates wait for that. Its reason is
// ReasonAccountChanged, or ReasonApplicationsOfOtherAccount.
const ConditionAccountChanged = "AccountChanged"

// ReasonApplicationsOfOtherAccount is the reason of ConditionAccountChanged while the account of the connection is not
// in doubt, but the applications of some Mandates belong to another one. All other Mandates continue.
const ReasonApplicationsOfOtherAccount = "ApplicationsOfOtherAccount"

// ConditionCreationSuspended is present, and True, only while spec.creation.suspend of an IdentityService or
// ClusterIdentityService is true: nothing is sent that e-mails people. Its reason is ReasonCreationSuspended.
const ConditionCreationSuspended = "CreationSuspended"

// ConditionCreationBudgetReached is present, and True, only while Mandates or MandateActions wait, because
// spec.creation allows no more e-mails now. Its reason is ReasonCreationBudgetReached.
const ConditionCreationBudgetReached = "CreationBudgetReached"

// ConditionStatesUnderstood is present, and False, only while the outcome of a Mandate or a decision waits, and the
// application is in a state whose name the operator does not know. Its reason is ReasonStateUnknown.
const ConditionStatesUnderstood = "StatesUnderstood"

// SameAccountAnnotation on an IdentityService or ClusterIdentityService has the value of status.account, if a person
// says that it is the account that all applications of the service were created with. It needs the verb connect.
const SameAccountAnnotation = "idv.mandate.io/same-account"

// ConditionNotificationsUnavailable is present, and True, only while the operator refuses all deliveries of a service
// with spec.notifications, or those with one of its tokens. The connection works, and applications are polled.
const ConditionNotificationsUnavailable = "NotificationsUnavailable"

// Reasons of ConditionNotificationsUnavailable.
const (
	// ReasonNotificationSecretNotForThis: neither the label SecretUseLabel of the Secret that
	// spec.notifications.secretRef names nor its type says that it is for notifications.
	ReasonNotificationSecretNotForThis = "NotificationSecretNotForThis"
	// ReasonNotificationSecretNotFound: the Secret that spec.notifications.secretRef names does not exist.
	ReasonNotificationSecretNotFound = "NotificationSecretNotFound"
	// ReasonNotificationSecretForbidden: the operator may not read that Secret.
	ReasonNotificationSecretForbidden = "NotificationSecretForbidden"
	// ReasonNotificationSecretInvalid: the Secret lacks the key token, or a token in it is too short.
	ReasonNotificationSecretInvalid = "NotificationSecretInvalid"
	// ReasonNotificationsDisabled: the operator runs without --separate-receiver and --notification-bind-address.
	ReasonNotificationsDisabled = "NotificationsDisabled"
)

// Reasons of the condition Ready of an IdentityService or ClusterIdentityService.
const (
	// ReasonConnected: the service accepted the credentials and gave its reference data. Ready is True.
	ReasonConnected = "Connected"
	// ReasonReferencesForbidden: the connection works, but the user may not read the reference data.
	ReasonReferencesForbidden = "ReferencesForbidden"
	// ReasonCredentialsInvalid: the service refused the credentials, or their user lacks the API permission.
	ReasonCredentialsInvalid = "CredentialsInvalid"
	// ReasonBaseURLNotAllowed: the operator's flags do not allow the host, or http. The operator sends nothing.
	ReasonBaseURLNotAllowed = "BaseURLNotAllowed"
	// ReasonCABundleInvalid: spec.caBundle holds no certificate that can be read.
	ReasonCABundleInvalid = "CABundleInvalid"
	// ReasonSecretForbidden: the operator may not read the Secret that spec.credentialsSecretRef names.
	ReasonSecretForbidden = "SecretForbidden"
	// ReasonNamespaceSelectorInvalid: spec.namespaceSelector is invalid, so it selects no namespace.
	ReasonNamespaceSelectorInvalid = "NamespaceSelectorInvalid"
	// ReasonUnreachable: no connection, no answer in time, or a TLS error.
	ReasonUnreachable = "Unreachable"
	// ReasonIdentityServiceError: the service answered the request for reference data with an error, with something else,
	// or too slowly.
	ReasonIdentityServiceError = "IdentityServiceError"
	// ReasonLoginFailing: the service answered the login with an error that is no refusal.
	ReasonLoginFailing = "LoginFailing"
	// ReasonReadsFailing: requests for applications fail, or take too long.
	ReasonReadsFailing = "ReadsFailing"
	// ReasonWritesFailing: requests that create or change something fail, or take too long.
	ReasonWritesFailing = "WritesFailing"
)
