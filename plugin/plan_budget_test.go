package plugin_test

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// lotsOfOne is the largest spec.creation.maxPerHour of which the operator reserves no more than it needs.
const lotsOfOne = 49

// limitCreation has the change of a pair send a few requests at most.
func (p *pair) limitCreation() {
	service := &v1alpha1.IdentityService{ObjectMeta: p.named("default")}
	p.must(p.Get(p.Context(), client.ObjectKeyFromObject(service), service))
	left := p.random.IntN(3)
	p.budget = left
	if used := service.Status.Creation; used != nil {
		p.budget += int(used.LastHour)
	}
	p.budget = max(1, p.budget)
	p.setCreation(fmt.Sprintf(`{"maxPerHour":%d}`, p.budget))
	p.describe("%d requests may be sent", left)
}

// setCreation changes spec.creation, and waits until the operator knows.
func (p *pair) setCreation(creation string) {
	service := &v1alpha1.IdentityService{ObjectMeta: p.named("default")}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"creation":`+creation+`}}`))
	p.must(p.Patch(p.Context(), service, patch))
	p.until(func() string {
		p.must(p.Get(p.Context(), client.ObjectKeyFromObject(service), service))
		if service.Status.ObservedGeneration != service.Generation {
			return "the service does not have " + creation
		}
		return ""
	})
}

// exhausts reports whether a plan has what waits for the budget.
func (p *pair) exhausts(predicted *prediction) bool {
	return slices.ContainsFunc(predicted.Items, func(i plannedItem) bool { return waits(&i) })
}

func waits(item *plannedItem) bool { return item.Reason == v1alpha1.ReasonCreationBudgetReached }

// contender is who would send, if the budget allowed it. Which of them do, their order tells, which a plan does not
// know: it plans for all of them, and says of some that they wait.
func (p *pair) contender(item *plannedItem) string {
	limited := waits(item)
	for _, call := range item.Calls {
		limited = limited || slices.Contains([]string{"Create", "ResendInvite", "ResetIndividual"}, call.Kind)
	}
	switch m := p.manifests[item.Kind+"/"+item.Name]; {
	case !limited:
		return ""
	case item.Kind == "Mandate":
		return item.Name + " "
	default:
		return fmt.Sprintf("%s %s ", m.spec["mandateRef"].(map[string]any)["name"], m.spec["type"])
	}
}

// differenceWithin says how what happened differs from a plan that exhausts the budget. All of the budget is used, by
// those that the plan names, and what the budget does not limit happens as planned.
func (p *pair) differenceWithin(happened *observation, expected []string, predicted *prediction) string {
	var contenders []string
	for i := range predicted.Items {
		if contender := p.contender(&predicted.Items[i]); contender != "" {
			contenders = append(contenders, contender)
		}
	}
	others := func(calls []string) []string {
		return slices.DeleteFunc(slices.Clone(calls), func(call string) bool {
			return slices.ContainsFunc(contenders, func(c string) bool { return strings.HasPrefix(call, c) })
		})
	}
	if is, want := others(happened.calls), others(expected); !slices.Equal(is, want) {
		return fmt.Sprintf("the calls that no budget limits are %q, planned are %q; contenders are %q", is, want, contenders)
	}
	if happened.emails > predicted.Emails {
		return fmt.Sprintf("%d e-mails were sent, planned are %d at most", happened.emails, predicted.Emails)
	}
	service := &v1alpha1.IdentityService{ObjectMeta: p.named("default")}
	p.must(p.Get(p.Context(), client.ObjectKeyFromObject(service), service))
	if used := service.Status.Creation; used == nil || int(used.LastHour) != p.budget {
		return fmt.Sprintf("the budget is not exhausted: %+v", used)
	}
	return p.notSettled()
}
