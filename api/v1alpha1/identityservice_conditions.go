package v1alpha1

// Reasons of the condition Ready of an IdentityService.
const (
	// ReasonConnected: the service accepted the credentials and gave its reference data. Ready is True.
	ReasonConnected = "Connected"
	// ReasonCredentialsInvalid: the service refused the credentials, or the user has no API permission.
	ReasonCredentialsInvalid = "CredentialsInvalid"
	// ReasonCABundleInvalid: spec.caBundle holds no certificate that can be read.
	ReasonCABundleInvalid = "CABundleInvalid"
	// ReasonUnreachable: no connection, no answer in time, or a TLS error.
	ReasonUnreachable = "Unreachable"
	// ReasonInUse: the IdentityService is being deleted, and Mandates need it to archive or delete their applications.
	ReasonInUse = "InUse"
	// ReasonServiceError: the service answered with an error, or with something that is not reference data.
	ReasonServiceError = "ServiceError"
)
