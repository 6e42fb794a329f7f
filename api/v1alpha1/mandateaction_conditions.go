package v1alpha1

// Condition types of a MandateAction. In the end exactly one of them is there, and True.
const (
	// ConditionComplete: the order was carried out.
	ConditionComplete = "Complete"
	// ConditionFailed: the order was not carried out or, with reason OutcomeUnknown, may or may not have been.
	ConditionFailed = "Failed"
)
