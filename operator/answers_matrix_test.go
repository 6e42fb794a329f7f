package operator_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

var answersPart = flag.Int(
	"answers", answersAtOnce,
	"TestAnswers takes every nth answer of the matrix, beginning with another one each time; 1 takes all",
)

// answersAtOnce is into how many parts the whole matrix is taken, one after the other. A part has some 165 services of
// its own: with many more, some are tried again at any time, so that a part never becomes quiet.
const answersAtOnce = 32

// TestAnswers has somebody between the operator and the service answer every request that e-mails people or cannot be
// undone, with every status and every kind of body. The service carries the request out before that, after it, or
// never. The test prints what came of it.
//
// Whatever the answer: nobody is e-mailed twice for one thing that was asked for, a Mandate gets one application, also
// after its reference is edited, the name of a MandateAction is never free again, and nothing is said to be done that
// was not. Nothing is sent more often than the log says, and a decision, a review or an archiving that is carried out
// is sent once.
func TestAnswers(t *testing.T) {
	testenv.SkipIfShort(t)
	t.Parallel()
	all, lies := allCells()
	n, firsts := *answersPart, []int{int(time.Now().UnixNano()) % *answersPart}
	if n == 1 {
		n, firsts = answersAtOnce, nil
		for first := range answersAtOnce {
			firsts = append(firsts, first)
		}
	}
	sum := map[string]*actCounts{}
	for _, first := range firsts {
		t.Run(fmt.Sprintf("cells %d, %d, ... of %d", first, first+n, len(all)), func(t *testing.T) {
			var cells []*cell
			for i := first; i < len(all); i += n {
				cells = append(cells, all[i])
			}
			answer(newMatrix(t, cells), sum)
			logCounts(t, sum)
		})
	}
	t.Logf("%d of the whole matrix are left out: nobody could tell them from the service's own word", lies)
}

// answer has the requests of some cells answered, and adds to the counts what came of that.
func answer(m *matrix, sum map[string]*actCounts) {
	m.Helper()
	m.applyMandates()
	m.request()
	m.settle("while somebody else answers")
	m.check(sum)
	m.repeat()
	m.settle("after the orders were repeated")
	m.check(map[string]*actCounts{})
	m.proxy.lift()
	m.settle("with the service alone")
	m.check(map[string]*actCounts{})
}

type matrix struct {
	*world
	cells   []*cell
	proxy   *answeringProxy
	service *idv.Client // past the proxy
	// asked is how often each kind of e-mail was asked for, by the name of the Mandate.
	asked map[string]map[control.EmailKind]int
}

// actCounts is what came of the cells of one act.
type actCounts struct{ cells, answers, again, done, refused, unknown, emails, twice int }

func newMatrix(t *testing.T, cells []*cell) *matrix {
	m := &matrix{
		world: newWorld(t, sandbox.Options{}), cells: cells, asked: map[string]map[control.EmailKind]int{},
	}
	proxy, server := newAnsweringProxy(m.url, m.cells)
	t.Cleanup(server.Close)
	m.proxy, m.service = proxy, m.client(m.url)
	m.credentials()
	m.secret("idv-notifications", map[string]string{"token": notificationToken})
	m.start("--settle-delay=4s", "--notification-bind-address="+testenv.FreeAddress(t), "--max-concurrent-reconciles=50")
	m.each(func(c *cell) error {
		spec := map[string]any{
			"baseURL": server.URL + "/" + c.name, "credentialsSecretRef": map[string]any{"name": "idv"},
			"polling": map[string]any{"minIntervalSeconds": 20, "maxIntervalSeconds": 20},
		}
		if c.act == actSubscribe {
			spec["notifications"] = map[string]any{
				"secretRef": map[string]any{"name": "idv-notifications"}, "subscribe": "Application", "url": "http://127.0.0.1:9",
			}
		}
		return m.applyObject("IdentityService", c.name, spec)
	})
	return m
}

// each does something for each cell, several at a time.
func (m *matrix) each(do func(c *cell) error) {
	m.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for _, c := range m.cells {
		all.Go(func() error {
			if err := do(c); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
			return nil
		})
	}
	m.World().check(all.Wait())
}

// World is the world of the matrix.
func (m *matrix) World() *world { return m.world }

// applyMandates applies one Mandate a cell. Those whose create is not the act get their application, in review.
func (m *matrix) applyMandates() {
	m.Helper()
	m.each(func(c *cell) error { return m.applySpec(c, nil) })
	m.until("to exist", func(c *cell, mandate *v1alpha1.Mandate) bool {
		return c.act == actCreate || mandate.Status.ApplicationID != nil
	})
	m.each(func(c *cell) error {
		if c.act == actCreate {
			return nil
		}
		reference := m.namespace + "." + c.name
		result := control.ResultReview
		if c.act == actComplete {
			result = control.ResultPass // the service completes no other
		}
		_, err := m.sandbox.Play(m.Context(), control.Play{Reference: reference, Result: result})
		return err
	})
	m.until("to be in review", func(c *cell, mandate *v1alpha1.Mandate) bool {
		return c.act == actCreate || mandate.Status.State == "in review" && mandate.Status.Evidence != ""
	})
}

// applySpec applies the Mandate of a cell with further fields of its spec.
func (m *matrix) applySpec(c *cell, further map[string]any) error {
	spec := map[string]any{
		"mandateType": map[string]any{"code": "kyc"},
		"individuals": []any{map[string]any{"name": "jane", "email": c.name + "@example.com"}},
		"serviceRef":  map[string]any{"name": c.name},
	}
	if c.act == actDelete {
		spec["deletionPolicy"] = "Delete"
	}
	maps.Copy(spec, further)
	return m.applyObject("Mandate", c.name, spec)
}

func (m *matrix) applyObject(kind, name string, spec map[string]any) error {
	object := m.parse(fmt.Sprintf("{kind: %s, metadata: {name: %s}}", kind, name))
	object.Object["spec"] = spec
	return m.Apply(m.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"),
		client.ForceOwnership)
}

// request asks for the act of each cell.
func (m *matrix) request() {
	m.Helper()
	m.each(func(c *cell) error {
		seen := m.mandateOf(c)
		review := func(decision string) map[string]any {
			return map[string]any{"checkReviews": []any{map[string]any{
				"individual": "jane", "check": "liveness", "evidence": checkNamed(seen, "liveness").Evidence, "decision": decision,
			}}}
		}
		decide := func(outcome string) map[string]any {
			return map[string]any{"decision": map[string]any{"outcome": outcome, "evidence": seen.Status.Evidence}}
		}
		switch c.act {
		case actResend:
			return m.act(c, "ResendInvite")
		case actReset:
			return m.act(c, "ResetIndividual")
		case actComplete:
			return m.applySpec(c, decide("Complete"))
		case actReject:
			return m.applySpec(c, decide("Reject"))
		case actArchive:
			return m.applySpec(c, map[string]any{"archived": true})
		case actAcceptCheck:
			return m.applySpec(c, review("Accept"))
		case actRejectCheck:
			return m.applySpec(c, review("Reject"))
		case actDelete:
			return m.Delete(m.Context(), m.mandateOf(c))
		default:
			return nil // it was asked for by the Mandate itself
		}
	})
}

func (m *matrix) act(c *cell, actionType string) error {
	return m.applyObject("MandateAction", c.name, map[string]any{
		"mandateRef": map[string]any{"name": c.name}, "type": actionType, "individual": "jane",
	})
}

// repeat does what people and GitOps tools do next: they edit the reference of a create that failed, and apply actions
// again under the same name.
func (m *matrix) repeat() {
	m.Helper()
	m.each(func(c *cell) error {
		switch c.act {
		case actCreate:
			if m.mandateOf(c).Status.ApplicationID != nil {
				return nil
			}
			return m.applySpec(c, map[string]any{"reference": m.namespace + "." + c.name + "-edited"})
		case actResend, actReset:
			action := &v1alpha1.MandateAction{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: c.name}}
			if err := m.Delete(m.Context(), action); err != nil {
				return err
			}
			return m.act(c, map[string]string{actResend: "ResendInvite", actReset: "ResetIndividual"}[c.act])
		default:
			return nil
		}
	})
}

// until waits until something holds for the Mandates of all cells.
func (m *matrix) until(what string, holds func(*cell, *v1alpha1.Mandate) bool) {
	m.Helper()
	m.eventually(func() (bool, string) {
		var missing []string
		mandates := m.mandates()
		for _, c := range m.cells {
			if !holds(c, cmp.Or(mandates[c.name], &v1alpha1.Mandate{})) {
				missing = append(missing, c.String())
			}
		}
		return len(missing) == 0, fmt.Sprintf("%d cells wait %s: %q", len(missing), what, missing[:min(3, len(missing))])
	})
}

// quietTime is longer than all pauses between two tries, but for those of tries that were refused.
const quietTime = 6 * time.Second

// settle waits until every act was sent, and nothing is sent any more.
func (m *matrix) settle(when string) {
	m.Helper()
	m.eventually(func() (bool, string) {
		unsent := m.proxy.unanswered()
		if len(unsent) == 0 {
			return m.proxy.quiet() > quietTime, when + ": the operator goes on sending requests"
		}
		action := &v1alpha1.MandateAction{}
		_ = m.Get(m.Context(), client.ObjectKey{Namespace: m.namespace, Name: unsent[0].name}, action)
		return false, fmt.Sprintf("%s: %d acts were never sent, such as %s: %+v\n%+v",
			when, len(unsent), unsent[0], m.mandateOf(unsent[0]).Status, action.Status)
	})
}

// mandateOf is the Mandate of a cell; the zero Mandate if it is gone.
func (m *matrix) mandateOf(c *cell) *v1alpha1.Mandate {
	mandate := &v1alpha1.Mandate{}
	err := m.Get(m.Context(), client.ObjectKey{Namespace: m.namespace, Name: c.name}, mandate)
	if err != nil && !apierrors.IsNotFound(err) {
		m.Error(err)
	}
	return mandate
}

// mandates are those of all cells, by name.
func (m *matrix) mandates() map[string]*v1alpha1.Mandate {
	m.Helper()
	list, found := &v1alpha1.MandateList{}, map[string]*v1alpha1.Mandate{}
	m.World().check(m.List(m.Context(), list, client.InNamespace(m.namespace)))
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	return found
}

// atService is what the service has for the cells.
type atService struct {
	applications map[string][]control.Application // by the name of the Mandate
	emails       map[string]map[control.EmailKind]int
}

func (m *matrix) atService() atService {
	applications, err := m.sandbox.Applications(m.Context())
	m.World().check(err)
	emails, err := m.sandbox.Outbox(m.Context())
	m.World().check(err)
	found := atService{map[string][]control.Application{}, map[string]map[control.EmailKind]int{}}
	for i := range applications {
		name := nameOf(applications[i].Reference)
		found.applications[name] = append(found.applications[name], applications[i])
	}
	for i := range emails {
		name, _, _ := strings.Cut(emails[i].Address, "@")
		if found.emails[name] == nil {
			found.emails[name] = map[control.EmailKind]int{}
		}
		found.emails[name][emails[i].Kind]++
	}
	return found
}

// said is what the operator says of the cells, by their names.
type said struct {
	mandates map[string]*v1alpha1.Mandate
	actions  map[string]*v1alpha1.MandateAction
	sends    map[string]int // of the act, as the log has them
}

func (m *matrix) said() said {
	m.Helper()
	actions := &v1alpha1.MandateActionList{}
	m.World().check(m.List(m.Context(), actions, client.InNamespace(m.namespace)))
	records := &v1alpha1.ApplicationRecordList{}
	m.World().check(m.List(m.Context(), records, client.InNamespace(m.namespace)))
	found := said{m.mandates(), map[string]*v1alpha1.MandateAction{}, m.sends(records)}
	for i := range actions.Items {
		found.actions[actions.Items[i].Name] = &actions.Items[i]
	}
	return found
}

// sends are how many requests of the act of each cell the service may have carried out, as the records say.
func (m *matrix) sends(records *v1alpha1.ApplicationRecordList) map[string]int {
	sends := map[string]int{}
	for i := range records.Items {
		record := &records.Items[i]
		c := m.proxy.cells[record.Name]
		for j := range record.Spec.Calls {
			if call := &record.Spec.Calls[j]; c != nil && call.Kind == callKinds[c.act] {
				sends[c.name] += int(call.Sends)
			}
		}
	}
	return sends
}

// check holds the promises for every cell. The operator may still be at work. So it reads what was sent before the log,
// which has each request before it is sent, and what the operator says before what is at the service: what is said to
// be done stays done.
func (m *matrix) check(sum map[string]*actCounts) {
	m.Helper()
	requests := m.proxy.counts()
	said := m.said()
	service := m.atService()
	for _, c := range m.cells {
		for kind, n := range service.emails[c.name] {
			if n > 1 {
				m.Errorf("%s: %d e-mails of the kind %s", c, n, kind)
			}
		}
		if n := len(service.applications[c.name]); n > 1 {
			m.Errorf("%s: %d applications", c, n)
		}
		counts := cmp.Or(sum[c.act], &actCounts{})
		sum[c.act] = counts
		counts.cells++
		made, logged := requests[c.name], said.sends[c.name]
		counts.answers += made.answered
		counts.again += max(0, made.sent-1)
		if most := c.mostSends(); most > 0 && (made.sent > most || made.answered > logged) {
			m.Errorf("%s: sent %d times, want %d at most; the log has %d of %d", c, made.sent, most, logged, made.answered)
		}
		switch done, unknown := m.claim(c, said, service); {
		case done:
			counts.done++
		case unknown:
			counts.unknown++
		default:
			counts.refused++
		}
		if kind, emails := emailOf[c.act]; emails {
			n := service.emails[c.name][kind]
			counts.emails += n
			counts.twice += max(0, n-1)
		}
	}
}

// emailOf is the e-mail that an act sends.
var emailOf = map[string]control.EmailKind{
	actCreate: control.Invite, actResend: control.Resend, actReset: control.Reset,
}

// claim is what the operator says of the act of a cell, and fails if it says that something is done that is not.
func (m *matrix) claim(c *cell, said said, service atService) (done, unknown bool) {
	mandate := cmp.Or(said.mandates[c.name], &v1alpha1.Mandate{})
	applications := service.applications[c.name]
	at := func(holds func(*control.Application) bool) bool {
		return slices.ContainsFunc(applications, func(a control.Application) bool { return holds(&a) })
	}
	claims := func(claimed, is bool) {
		done = claimed
		if claimed && !is {
			m.Errorf("%s: the status says that it was done, and it was not", c)
		}
	}
	switch c.act {
	case actCreate:
		claims(mandate.Status.ApplicationID != nil, len(applications) == 1)
		unknown = conditionIs(mandate.Status.Conditions, v1alpha1.ConditionCreated, metav1.ConditionUnknown)
	case actResend, actReset:
		action := cmp.Or(said.actions[c.name], &v1alpha1.MandateAction{})
		complete := meta.FindStatusCondition(action.Status.Conditions, v1alpha1.ConditionComplete)
		claims(complete != nil && complete.Status == metav1.ConditionTrue && complete.Reason == v1alpha1.ReasonCarriedOut,
			service.emails[c.name][emailOf[c.act]] > 0)
		failed := meta.FindStatusCondition(action.Status.Conditions, v1alpha1.ConditionFailed)
		unknown = failed != nil && failed.Reason == v1alpha1.ReasonOutcomeUnknown
	case actComplete:
		claims(mandate.Status.Outcome == v1alpha1.OutcomeCompleted,
			at(func(a *control.Application) bool { return a.State == "completed" }))
	case actReject:
		claims(mandate.Status.Outcome == v1alpha1.OutcomeRejected,
			at(func(a *control.Application) bool { return a.State == "rejected" }))
	case actArchive:
		claims(mandate.Status.Archived, at(func(a *control.Application) bool { return a.Archived }))
	case actDelete:
		claims(mandate.Name == "", len(applications) == 0)
	case actAcceptCheck, actRejectCheck:
		wanted := map[string]string{actAcceptCheck: "manually_accepted", actRejectCheck: "manually_rejected"}[c.act]
		claims(len(mandate.Status.Reviews) > 0, at(func(a *control.Application) bool {
			return slices.ContainsFunc(a.Individuals[0].Checks, func(check control.Check) bool { return check.State == wanted })
		}))
	case actSubscribe:
		subscribed := mandate.Status.Subscription == v1alpha1.SubscriptionSubscribed
		claims(subscribed, subscribed && m.subscribed(mandate))
	}
	return done, unknown
}

// subscribed reports whether the application of a Mandate has a subscription.
func (m *matrix) subscribed(mandate *v1alpha1.Mandate) bool {
	webhooks, err := m.service.RetrieveWebhook(m.Context(), *mandate.Status.ApplicationID)
	if !idv.IsNotFound(err) {
		m.World().check(err)
	}
	return err == nil && len(webhooks.Items) > 0
}

func conditionIs(conditions []metav1.Condition, kind string, status metav1.ConditionStatus) bool {
	return meta.IsStatusConditionPresentAndEqual(conditions, kind, status)
}

// logCounts shows the counts of each act.
func logCounts(t *testing.T, sum map[string]*actCounts) {
	t.Helper()
	for _, act := range acts {
		if n := sum[act]; n != nil {
			t.Logf("%-13s %4d cells, %5d answers: %4d done, %4d unknown, %4d not done; %4d e-mails, %d again; %d requests again",
				act, n.cells, n.answers, n.done, n.unknown, n.refused, n.emails, n.twice, n.again)
		}
	}
}
