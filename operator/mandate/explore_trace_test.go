package mandate

import (
	"fmt"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/explore"
)

// report describes a violation as a story: what happened, one line each, and how things stand at the end.
func report(v *explore.Violation[state]) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", v.What, v.State.via)
	b.WriteString("At the end:\n")
	v.State.world.describe(&b)
	for i, o := range v.State.ops {
		if o.current != nil {
			fmt.Fprintf(
				&b,
				"  operator %c is reconciling %s %s, at %s\n",
				'A'+i,
				o.current.mandate.Name,
				o.current.mandate.UID,
				o.current.decide().Step,
			)
		}
	}
	return b.String()
}

func (w *world) describe(b *strings.Builder) {
	for _, name := range sorted(w.mandates) {
		m := w.mandates[name]
		fmt.Fprintf(b, "  Mandate %s, uid %s, generation %d, reference %q: applicationID %s, outcome %q, %s\n",
			name, m.UID, m.Generation, m.Spec.Reference, number(m.Status.ApplicationID), m.Status.Outcome, conditions(m))
	}
	for _, name := range sorted(w.records) {
		s := w.records[name].Spec
		fmt.Fprintf(
			b,
			"  record of %s, %q at %s, for %s: applicationID %s",
			name,
			s.Reference,
			s.ServiceURL,
			s.MandateRef.UID,
			number(s.ApplicationID),
		)
		for _, c := range s.Calls {
			fmt.Fprintf(b, ", %s %s, sends %d, %q %q", c.Kind, c.Nonce, c.Sends, c.Result, c.Answer)
		}
		b.WriteString("\n")
	}
	for _, url := range sorted(w.sites) {
		for _, a := range w.sites[url].applications {
			if a.mandate != "" {
				fmt.Fprintf(
					b,
					"  application %d at %s, %q, e-mailed for %s, state %q, gone %t, archived %t\n",
					a.id,
					url,
					a.reference,
					a.mandate,
					a.stage,
					a.gone,
					a.archived,
				)
			}
		}
		for _, r := range w.sites[url].underWay {
			fmt.Fprintf(b, "  a create of %q at %s is under way\n", r.reference, url)
		}
	}
}

func number(id *int64) string {
	if id == nil {
		return "none"
	}
	return fmt.Sprint(*id)
}

func conditions(m *v1alpha1.Mandate) string {
	var texts []string
	for _, c := range m.Status.Conditions {
		texts = append(texts, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	return strings.Join(texts, " ")
}
