package mandate

// A notification may name an application whose id was lost. That is a hint and never a fact. The application is read,
// and bound if it is this Mandate's by the rules for adoptions, and if it shows what the spec asks for: no person has
// named it. Whatever a notification names, nothing is created from it.

// looksForNamed reports whether there is an application to look at. Only for a Mandate whose create had no answer does
// anybody ask.
func looksForNamed(f facts) bool {
	return (f.found != 0 || len(f.named) > 0) && f.service.UnusableReason() == "" && !f.referenceNotAllowed
}

// decideNamed looks at one application after another, until one is this Mandate's.
func decideNamed(f facts) decision {
	if f.found != 0 {
		return decision{Step: stepBind}
	}
	return decision{Step: stepReadNamed}
}
