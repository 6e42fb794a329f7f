package plugin_test

import (
	"testing"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
)

func TestPlanTry(t *testing.T) {
	testenv.SkipIfShort(t)
	w := newWorld(t, sandbox.Options{})
	w.start()
	w.connect()
	w.mandate("acme")
	w.run("", 0, "wait", "acme")
	manifests := `
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: acme}
spec: {mandateType: {code: kyc}, individuals: [{name: jane, email: jane.doe+review@example.com}]}
---
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: globex}
spec: {mandateType: {code: kyc}, archived: true, individuals: [{name: jane, email: jane.doe+review@example.com}, {name: john, email: a@example.com}]}
---
apiVersion: idv.mandate.io/v1alpha1
kind: MandateAction
metadata: {name: again}
spec: {mandateRef: {name: globex}, type: ResendInvite, individual: jane}
---
apiVersion: idv.mandate.io/v1alpha1
kind: MandateAction
metadata: {name: again2}
spec: {mandateRef: {name: acme}, type: ResetIndividual, individual: jane}
---
apiVersion: idv.mandate.io/v1alpha1
kind: Mandate
metadata: {name: late}
spec: {mandateType: {code: nope}, individuals: [{name: jane, email: a@example.com}]}
`
	t.Log(w.run(manifests, 2, "plan", "-f", "-"))
	t.Log(w.run(manifests, 2, "plan", "-f", "-", "-o", "json"))
	t.Log(w.run(manifests, 2, "plan", "-f", "-", "-o", "markdown"))
	w.emails(1)
}
