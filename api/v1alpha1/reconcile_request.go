package v1alpha1

// ReconcileRequestAnnotation on a Mandate asks for a read of its application now. On an IdentityService or
// ClusterIdentityService it asks for a probe. Each value that differs from the one before is a request. The status
// acknowledges it in lastHandledReconcileAt.
const ReconcileRequestAnnotation = "idv.mandate.io/reconcile-requested-at"

// NotificationRequestPrefix begins the value of a request that is not a person's. It costs no write of its own: the
// status acknowledges it together with the next change.
const NotificationRequestPrefix = "notification/"
