// Package plan says what the operator would do after a change, before anybody is e-mailed. It runs the controllers of
// Mandates and MandateActions themselves, on the objects of the cluster in memory with the change applied to them. In
// place of services it has stand-ins, which show what statuses show. Nothing is written to the cluster, and nothing is
// sent.
package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/operator/action"
	"github.com/mandate-io/idv/operator/budget"
	"github.com/mandate-io/idv/operator/connection"
	"github.com/mandate-io/idv/operator/engine"
	"github.com/mandate-io/idv/operator/ledger"
	"github.com/mandate-io/idv/operator/mandate"
)

// Input is a change, and the cluster that it would be applied to.
type Input struct {
	// Cluster has the objects of our kinds, and the metadata of namespaces, as they are now.
	Cluster []client.Object
	// Manifests are what would be applied. Of those of other kinds, only Namespaces and what makes Secrets matter.
	Manifests []Manifest
	// Pruned are the objects that would be deleted.
	Pruned []ObjectKey
	// Unknown is what is not known of a service, or of a namespace.
	Unknown map[ObjectKey]string
	// Unseen is why the cluster lacks Mandates that what is applied may release: those of a service, or of a namespace.
	Unseen map[ObjectKey]string
	Now    time.Time
}

const (
	// settleDelay, giveUpAfter and ruleDelay are the defaults of the operator's flags.
	settleDelay, giveUpAfter = 90 * time.Second, 24 * time.Hour
	ruleDelay                = 10 * time.Minute
	// soon is a requeue that goes on with what was begun: shorter than the time between two polls.
	soon = 500 * time.Millisecond
	// later is as long as anything takes that depends on the clock alone: ten minutes of a rule, and a fifth more.
	later = 13 * time.Minute
	// maxReconciliations of one object are far more than it takes.
	maxReconciliations = 500
)

// planner makes one Plan.
type planner struct {
	world        *world
	clock        *planClock
	now          time.Time
	connections  *connection.Registry
	unknown      map[ObjectKey]string
	urls         map[connection.Key]string
	applications map[applicationKey]*application
	created      int64
	items        []*planned
	byKey        map[ObjectKey]*planned
	secrets      map[ObjectKey]bool // that the change applies
	current      *planned
	mandates     *mandate.Reconciler
	actions      *action.Reconciler
}

// planned is an Item while it is made.
type planned struct {
	Item
	key       ObjectKey
	mandate   *v1alpha1.Mandate // of the item, or that an action is about; as the change makes it
	reference string            // of its application
	before    *v1alpha1.ApplicationRecord
	refusal   string        // of the API server
	outside   bool          // of the change: only what is sent for it is said
	unseen    bool          // the cluster lacks Mandates that it may release
	passed    time.Duration // since the change, in the plan
}

func (i *planned) isService() bool { return i.key.Kind != kindMandate && i.key.Kind != kindAction }

// isShown reports whether a plan has an item. Services matter to Mandates only.
func (i *planned) isShown() bool {
	switch {
	case i.outside:
		return i.sends() || slices.Contains(i.Actions, Bind)
	case i.isService():
		return i.refusal != "" || len(i.Warnings) > 0 || i.unseen
	default:
		return true
	}
}

// planClock is the time in a plan. It passes when the planner says so.
type planClock struct {
	clock.Clock
	now time.Time
}

// Now is the time in the plan.
func (c *planClock) Now() time.Time { return c.now }

// Make makes the plan. Errors are about the program, and not about the change: what is wrong with that is in the plan.
func Make(ctx context.Context, input Input) (*Plan, error) {
	ctx = log.IntoContext(ctx, logr.Discard())
	p := &planner{
		world: &world{objects: map[ObjectKey]client.Object{}, now: input.Now}, now: input.Now,
		clock: &planClock{Clock: clock.RealClock{}, now: input.Now}, connections: connection.NewRegistry(0),
		unknown: map[ObjectKey]string{}, urls: map[connection.Key]string{}, applications: map[applicationKey]*application{},
		byKey: map[ObjectKey]*planned{}, secrets: map[ObjectKey]bool{},
	}
	maps.Copy(p.unknown, input.Unknown)
	p.world.secretRead = func(name string) { p.current.assume(assumedSecret(name)) }
	for _, object := range input.Cluster {
		p.world.put(object.DeepCopyObject().(client.Object)) //nolint:forcetypeassert // a copy has the type of the original
	}
	people := newPeople(input)
	if err := p.apply(input); err != nil {
		return nil, err
	}
	p.connect()
	p.find()
	p.newReconcilers()
	if err := p.runAll(ctx, input.Pruned); err != nil {
		return nil, err
	}
	plan := &Plan{Items: []Item{}}
	for _, item := range p.items {
		p.conclude(item)
		people.compare(item)
		if item.isShown() {
			plan.Items = append(plan.Items, item.Item)
			plan.Emails += item.Emails
			plan.Sends = plan.Sends || item.sends() || item.unseen
		}
	}
	return plan, nil
}

const (
	kindMandate = "Mandate"
	kindAction  = "MandateAction"
	kindRecord  = "ApplicationRecord"

	kindNamespace = "Namespace"
)

// newReconcilers makes the controllers, which work on the world alone.
func (p *planner) newReconcilers() {
	services := engine.Services{
		ServiceReader: connection.ServiceReader{Reader: p.world, ClusterServices: true}, Connections: p.connections,
	}
	records := ledger.Ledger{Reader: p.world, Writer: p.world}
	budgets := budget.New(budget.Config{
		Cache: p.world, Live: p.world, Status: statusWriter{world: p.world}, Ledger: records, Connections: p.connections,
		Now: p.clock.Now, Hour: time.Hour, SettleDelay: settleDelay,
	})
	p.mandates = mandate.NewReconciler(mandate.Config{
		Services: services, Cache: p.world, Live: p.world, Status: statusWriter{world: p.world}, Metadata: p.world,
		Ledger: records, Events: noEvents{}, Budgets: budgets,
		SettleDelay: settleDelay, RuleDelay: ruleDelay, DeletionGiveUpAfter: giveUpAfter,
		StandIn: func(key connection.Key) mandate.ServiceClient { return p.standInOf(key) }, Clock: p.clock,
	})
	p.actions = action.NewReconciler(action.Config{
		Services: services, Cache: p.world, Live: p.world, Writer: p.world, Status: statusWriter{world: p.world},
		Ledger: records, ResetEnded: p.mandates.RecordChanged, SettleDelay: settleDelay, Budgets: budgets,
		Events: noEvents{}, Clock: p.clock,
		StandIn: func(key connection.Key) action.ServiceClient { return p.standInOf(key) },
	})
}

// noEvents takes the events of a plan.
type noEvents struct{}

// Eventf implements events.EventRecorder.
func (noEvents) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

// find collects the applications that statuses and records have.
func (p *planner) find() {
	for _, object := range p.world.objects {
		record, ok := object.(*v1alpha1.ApplicationRecord)
		if ok && record.Spec.ApplicationID != nil {
			p.applications[applicationKey{record.Spec.ServiceURL, *record.Spec.ApplicationID}] = ofRecord(record)
		}
	}
	moved := map[applicationKey]*application{}
	for _, object := range p.world.objects {
		m, ok := object.(*v1alpha1.Mandate)
		if !ok || m.Status.ApplicationID == nil {
			continue
		}
		url, account := p.placeOf(m)
		shown := ofStatus(m)
		shown.account = account
		if shown.gone && m.Status.Outcome == "" && p.changesService(m) { // a wrong URL may be all that was wrong
			shown.gone, shown.unknown = false, true
		}
		p.applications[applicationKey{url, *m.Status.ApplicationID}] = shown
		moved[applicationKey{p.urls[connection.KeyOf(m)], *m.Status.ApplicationID}] = shown
	}
	for key, shown := range moved { // a record keeps the URL that its service has moved from
		if p.applications[key] == nil {
			p.applications[key] = shown
		}
	}
}

// placeOf is where the application of a Mandate is, and whose: as the record says, or else its service.
func (p *planner) placeOf(m *v1alpha1.Mandate) (url string, account connection.Account) {
	record := p.world.record(m.Namespace, m.Name)
	if record != nil && record.Spec.ApplicationID != nil && *record.Spec.ApplicationID == *m.Status.ApplicationID {
		return record.Spec.ServiceURL, connection.AccountOf(record)
	}
	used, _ := p.connections.Get(connection.KeyOf(m)) // none: nothing is known
	return used.URL, used.Account
}

// runAll reconciles what is applied, at once and after the time that a rule takes. Tools delete objects after that.
func (p *planner) runAll(ctx context.Context, pruned []ObjectKey) error {
	for _, waits := range []bool{false, true} {
		for _, kind := range []string{kindMandate, kindAction} {
			if err := p.run(ctx, kind, waits); err != nil {
				return err
			}
		}
	}
	for _, key := range pruned {
		if stored := p.world.objects[key]; stored != nil {
			_ = p.world.Delete(ctx, stored) // a world takes everything
		}
	}
	return p.run(ctx, kindMandate, true)
}

// run reconciles the objects of a kind, each until nothing changes any more.
func (p *planner) run(ctx context.Context, kind string, waits bool) error {
	for _, item := range p.items {
		if item.key.Kind != kind || p.isDeletedLater(item) || p.isSettledWithoutPlan(item) ||
			waits && p.isRefused(item.key) {
			continue
		}
		p.current = item
		if item.mandate != nil {
			item.reference = p.referenceOf(item.mandate)
		}
		if err := p.settle(ctx, item, waits); err != nil {
			return fmt.Errorf("planning for %s: %w", item.key, err)
		}
	}
	return nil
}

// settle reconciles an object while that changes anything. If it waits, that is once more after a long time.
func (p *planner) settle(ctx context.Context, item *planned, waits bool) error {
	p.clock.now = p.now.Add(item.passed)
	defer func() { item.passed = p.clock.now.Sub(p.now) }()
	name := client.ObjectKey{Namespace: item.key.Namespace, Name: item.key.Name}
	var reconciler reconcile.Reconciler = p.mandates
	if item.key.Kind == kindAction {
		reconciler = p.actions
	}
	for range maxReconciliations {
		before := p.world.version
		result, err := reconciler.Reconcile(ctx, reconcile.Request{NamespacedName: name})
		switch after := result.RequeueAfter; {
		case err != nil:
			return err
		case p.world.version != before, after > 0 && after <= soon:
			p.clock.now = p.clock.now.Add(soon)
		case waits:
			waits = false
			p.clock.now = p.clock.now.Add(later)
		default:
			return nil
		}
	}
	return fmt.Errorf("the reconciliations do not end: report this bug of the plan")
}

// isRefused is for a Mandate whose create was refused. What a later try needs of the budget, others may have then.
func (p *planner) isRefused(key ObjectKey) bool {
	m, ok := p.world.objects[key].(*v1alpha1.Mandate)
	return ok && slices.Contains([]string{v1alpha1.ReasonRefused, v1alpha1.ReasonReferenceConflict}, readyReason(m))
}

// isDeletedLater is for an object that the change deletes, before it does.
func (p *planner) isDeletedLater(item *planned) bool {
	object := p.world.objects[item.key]
	return item.Change == Pruned && object != nil && object.GetDeletionTimestamp() == nil
}

// isSettledWithoutPlan is for what a plan cannot know better than the status: an action that downloads, and a Mandate
// that waits for its Secrets, or was refused with what they have, unless the change applies one of them, or the
// create would be another one.
func (p *planner) isSettledWithoutPlan(item *planned) bool {
	object := p.world.objects[item.key]
	switch o := object.(type) {
	case *v1alpha1.MandateAction:
		return o.Spec.Type == v1alpha1.MandateActionDownloadReport
	case *v1alpha1.Mandate:
		waits := []string{
			v1alpha1.ReasonSecretNotFound, v1alpha1.ReasonSecretInvalid, v1alpha1.ReasonSecretNotForThis,
			v1alpha1.ReasonRefused, v1alpha1.ReasonReferenceConflict,
		}
		secrets := secretsOf(o)
		applied := func(name string) bool { return p.secrets[ObjectKey{kindSecret, o.Namespace, name}] }
		if item.Change != Unchanged || len(secrets) == 0 || !slices.Contains(waits, readyReason(o)) ||
			slices.ContainsFunc(secrets, applied) || p.isRefused(item.key) && p.asksAnew(o) {
			return false
		}
		for _, name := range secrets {
			item.assume("The Secret " + name + " is as the operator has seen it; a plan reads no Secrets.")
		}
		return true
	default:
		return object == nil
	}
}

// asksAnew reports whether the create of a Mandate would be another one than its record has: what refused that does not
// matter then.
func (p *planner) asksAnew(m *v1alpha1.Mandate) bool {
	record := p.world.record(m.Namespace, m.Name)
	return record == nil || record.Spec.ServiceURL != p.urls[connection.KeyOf(m)] ||
		record.Spec.Reference != p.referenceOf(m)
}

func secretsOf(m *v1alpha1.Mandate) (names []string) {
	for i := range m.Spec.Individuals {
		if ref := m.Spec.Individuals[i].DetailsSecretRef; ref != nil {
			names = append(names, ref.Name)
		}
	}
	return names
}

func readyReason(m *v1alpha1.Mandate) string {
	return engine.ReasonOf(m.Status.Conditions, v1alpha1.ConditionReady)
}
