package provider_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// lifecycleGuide has a table of what each operation does. A run of TestLifecycle with -update writes it. Every other
// run compares it.
const lifecycleGuide = "../docs/templates/guides/lifecycle.md"

// lifecyclePolicies are the columns of the table.
var lifecyclePolicies = []string{"PREVENT", "ABANDON"}

// onTerraformToo are the operations that run on Terraform as well. All run on OpenTofu.
var onTerraformToo = []string{
	"Create", "Another form of the same request", "`-replace`", "`replace_triggered_by`",
	"`create_before_destroy`, `-replace`", "`import` block with an id", "`taint`, then apply",
	"From `url` to an equal `url_wo`", "Another `url_wo`, another `url_wo_version`", "The application is gone, no change",
}

// TestLifecycle runs every operation with every choice of policies, and checks that the table in the guide says what
// happens: whether the plan and the apply succeed, how many requests subscribe, and how many subscriptions exist then.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	guide := read(t, lifecycleGuide)
	written := lifecycleCellsIn(guide)
	var mu sync.Mutex
	t.Run("operations", func(t *testing.T) {
		onEachCLI(t, func(t *testing.T, c cli) {
			for _, operation := range lifecycleOperations {
				if c.name != "tofu" && !slices.Contains(onTerraformToo, operation.name) {
					continue
				}
				for column, policy := range lifecyclePolicies {
					t.Run(operation.name+"/"+policy, func(t *testing.T) {
						t.Parallel()
						outcome := operation.run(t, c, policy)
						mu.Lock()
						defer mu.Unlock()
						cell := &written[operation.name][column]
						if *update && c.name == "tofu" {
							*cell = outcome
						}
						if outcome != *cell {
							t.Errorf("got %q, %s has %q; run make update",
								outcome, lifecycleGuide, *cell)
						}
					})
				}
			}
		})
	})
	switch current := withLifecycleCells(guide, written); {
	case *update && !t.Failed():
		write(t, lifecycleGuide, current)
	case current != guide && !t.Failed():
		t.Errorf("the table in %s differs in its rows or its format", lifecycleGuide)
	}
}

// lifecycleCellsIn returns the cells of the table by operation. Cells of operations that it lacks are empty.
func lifecycleCellsIn(guide string) map[string][]string {
	cells := map[string][]string{}
	for _, operation := range lifecycleOperations {
		cells[operation.name] = make([]string, len(lifecyclePolicies))
	}
	for _, line := range tableIn(guide) {
		if line := cellsOf(line); len(line) == len(lifecyclePolicies)+1 && cells[line[0]] != nil {
			cells[line[0]] = line[1:]
		}
	}
	return cells
}

func withLifecycleCells(guide string, cells map[string][]string) string {
	var header []string
	for _, policy := range lifecyclePolicies {
		header = append(header, fmt.Sprintf("%#q", policy))
	}
	lines := []string{
		"| Operation | " + strings.Join(header, " | ") + " |", strings.Repeat("|---", len(lifecyclePolicies)+1) + "|",
	}
	for _, operation := range lifecycleOperations {
		lines = append(lines, "| "+operation.name+" | "+strings.Join(cells[operation.name], " | ")+" |")
	}
	return strings.Replace(guide, strings.Join(tableIn(guide), "\n"), strings.Join(lines, "\n"), 1)
}

// run returns the text of the cell. It fails the test if the outcome breaks a rule that holds for every operation.
func (o lifecycleOperation) run(t *testing.T, c cli, deletionPolicy string) string {
	t.Helper()
	s := newService(t)
	s.setDialect(t, "retrieveWebhook", "list")
	l := &lifecycleCell{
		workspace: c.inProcess(t, s.providerBlock()), service: s, application: s.createApplication(t),
		deletionPolicy: deletionPolicy,
	}
	if o.prepare == nil {
		o.prepare = applied(receiver, "")
	}
	o.prepare(t, l)
	s.resetStats(t)
	if o.configure != nil {
		o.configure(t, l)
	}
	outcome, failed := l.planAndApply(t, o.plan)
	if strings.Contains(l.state(t), "deposed") {
		t.Errorf("%s: the state has a deposed object, which every later apply would try to replace", outcome)
	}
	sent, exist := s.requests(t, control.SubscribeWebhook), s.countSubscriptions(t, l.application)
	existing := 1
	if l.gone {
		existing = 0
	}
	if sent > 1 || failed && sent > 0 || l.gone && sent > 0 || l.deletionPolicy == "PREVENT" && exist != existing {
		t.Errorf("%s: %d requests, %d subscriptions", outcome, sent, exist)
	}
	return fmt.Sprintf("%s; %d sent; %d exist", outcome, sent, exist)
}

// planAndApply applies a saved plan, after which nothing may be left to plan.
func (l *lifecycleCell) planAndApply(t *testing.T, arguments []string) (outcome string, failed bool) {
	t.Helper()
	planned := l.run(t, append([]string{"plan", "-out=plan.bin"}, arguments...)...)
	if planned.exit != 0 {
		return "error in the plan", true
	}
	if r := l.run(t, "apply", "plan.bin"); r.exit != 0 {
		return "error in the apply", true
	}
	if slices.Contains(arguments, "-destroy") {
		l.write(t, "")
	}
	l.mustPlanNothing(t)
	return plannedAction(planned.output), false
}

// plannedAction returns the action on the subscription in the output of a plan.
func plannedAction(output string) string {
	action := "no change"
	for line := range strings.Lines(output) {
		var event struct {
			Type   string
			Change struct {
				Action   string
				Resource struct {
					Type string `json:"resource_type"`
				}
			}
		}
		if json.Unmarshal([]byte(line), &event) == nil && event.Type == "planned_change" &&
			event.Change.Resource.Type == subscriptionType {
			action = event.Change.Action
		}
	}
	return action
}
