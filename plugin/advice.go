package plugin

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// advice is what a person does next about one reason: the steps of docs/conditions.md, and commands to copy.
type advice struct {
	Subject  string   `json:"subject"`
	Reason   string   `json:"reason"`
	Meaning  string   `json:"meaning"`
	Steps    []string `json:"steps,omitempty"`
	Commands []string `json:"commands,omitempty"`
}

// adviceFor lists what is to be done, the cause first: a service that is not Ready keeps its Mandates waiting.
func adviceFor(v *view) []advice {
	var all []advice
	add := func(kind, name, reason string, commands map[string][]string, more ...string) {
		e, known := explanationOf(kind, reason)
		if !known || len(e.Steps) == 0 {
			return
		}
		replace := strings.NewReplacer(append(more,
			"{ns}", v.Namespace, "{name}", v.Name,
			"{service}", v.Service.Name, "{kind}", strings.ToLower(v.Service.Kind),
		)...)
		a := advice{Subject: kind + " " + name, Reason: reason, Meaning: e.Meaning, Steps: e.Steps}
		templates, listed := commands[reason]
		if !listed && kind == kindService {
			templates = []string{showService}
		}
		for _, command := range templates {
			a.Commands = append(a.Commands, replace.Replace(command))
		}
		all = append(all, a)
	}
	for _, problem := range v.Service.Problems {
		add(kindService, v.Service.Name, problem.Reason, serviceCommands)
	}
	add(kindMandate, v.Name, v.Ready.Reason, mandateCommands)
	if v.saysCompleted() {
		add(kindMandate, v.Name, v.Completed.Reason, mandateCommands)
	}
	latest := map[string]bool{} // an action that was repeated since needs nobody
	for i := range v.Actions {
		a := &v.Actions[i]
		if key := a.Type + " " + a.Individual; !latest[key] {
			latest[key] = true
			add(kindAction, a.Name, a.Condition.Reason, actionCommands,
				"{action}", a.Name, "{verb}", verbs[a.Type], "{individual}", a.Individual)
		}
	}
	return all
}

// verbs are the commands of the plugin that make actions.
var verbs = map[string]string{
	string(v1alpha1.MandateActionResendInvite):    "resend",
	string(v1alpha1.MandateActionResetIndividual): "reset",
	string(v1alpha1.MandateActionDownloadReport):  "report",
}

const (
	// operatorLabel is operatorName on the operator's Deployment and Pods, whatever installed them.
	operatorLabel = "app.kubernetes.io/name"
	operatorName  = "mandate-operator"
	operatorPods  = operatorLabel + "=" + operatorName
)

// The commands. All name the namespace, so that they can be copied. None needs more than a role in it.
const (
	adopt       = "kubectl mandate adopt -n {ns} {name} APPLICATION_ID"
	settle      = "kubectl mandate settle -n {ns} {name} --not-created"
	refresh     = "kubectl mandate refresh -n {ns} {name}"
	decideAgain = "kubectl mandate decide -n {ns} {name} Complete|Reject"
	reviewAgain = "kubectl mandate review -n {ns} {name} INDIVIDUAL CHECK Accept|Reject"
	showService = "kubectl describe {kind} -n {ns} {service}"
	check       = "kubectl mandate check-connection -n {ns} --{kind} {service}"
	probe       = "kubectl mandate refresh -n {ns} --{kind} {service}"
	showRecord  = "kubectl get applicationrecord -n {ns} {name} -o yaml"
	complete    = "kubectl annotate mandate -n {ns} {name} " + v1alpha1.RecordCompleteAnnotation +
		"=$(kubectl get applicationrecord -n {ns} {name} -o jsonpath='{.metadata.uid}')"
	quotas       = "kubectl describe resourcequota -n {ns}"
	showSpec     = "kubectl edit mandate -n {ns} {name}"
	release      = `kubectl patch mandate -n {ns} {name} --type=merge -p '{"spec":{"deletionPolicy":"Retain"}}'`
	resume       = "kubectl mandate resume -n {ns} mandate/{name}"
	stop         = "kubectl mandate suspend -n {ns} {kind}/{service}"
	lift         = "kubectl mandate resume -n {ns} {kind}/{service}"
	mandateTypes = "kubectl get {kind} -n {ns} {service} -o jsonpath='{.status.mandateTypes}'"
	showStatus   = "kubectl mandate status -n {ns} {name}"
	states       = "kubectl get {kind} -n {ns} {service} -o jsonpath='{.status.states}'"
	cancel       = "kubectl delete mandateaction -n {ns} {action}"
	findOperator = "kubectl get pods -A -l " + operatorPods
	repeatAction = "kubectl mandate {verb} -n {ns} {name} {individual}"
)

var mandateCommands = map[string][]string{
	v1alpha1.ReasonAccountChanged:            {showService, showRecord},
	v1alpha1.ReasonAdoptionRefused:           {showRecord, adopt},
	v1alpha1.ReasonApplicationExists:         {showRecord},
	v1alpha1.ReasonConfirming:                {refresh},
	v1alpha1.ReasonCreateDeadlinePassed:      {adopt},
	v1alpha1.ReasonCreationBudgetReached:     {showService, stop},
	v1alpha1.ReasonCreationSuspended:         {showService, lift},
	v1alpha1.ReasonErased:                    {showSpec, adopt},
	v1alpha1.ReasonDecisionForbidden:         {refresh},
	v1alpha1.ReasonDecisionOutdated:          {decideAgain},
	v1alpha1.ReasonDecisionRefused:           {refresh},
	v1alpha1.ReasonDecisionUnknown:           {showRecord, refresh},
	v1alpha1.ReasonDeletionRefused:           {release},
	v1alpha1.ReasonDeletionWaiting:           {showService, release},
	v1alpha1.ReasonIdentityServiceMismatch:   {showRecord, showService},
	v1alpha1.ReasonIdentityServiceNotAllowed: {showService, "kubectl get namespace {ns} --show-labels"},
	v1alpha1.ReasonIdentityServiceNotFound:   {"kubectl get identityservices,clusteridentityservices -n {ns}"},
	v1alpha1.ReasonIdentityServiceNotReady:   {showService},
	v1alpha1.ReasonIndividualsUnmatched:      {refresh},
	v1alpha1.ReasonLedgerUnavailable:         {quotas},
	v1alpha1.ReasonLogFull:                   {showRecord},
	v1alpha1.ReasonMandateTypeNotFound:       {mandateTypes, showSpec},
	v1alpha1.ReasonNotArchived:               {refresh},
	v1alpha1.ReasonOutcomeUnknown:            {showRecord, adopt, settle},
	v1alpha1.ReasonReadFailed:                {refresh},
	v1alpha1.ReasonRecordPending:             {quotas},
	v1alpha1.ReasonRecordRestored:            {showRecord, adopt, complete},
	v1alpha1.ReasonReferenceConflict:         {"kubectl get applicationrecords -A", adopt},
	v1alpha1.ReasonRefused:                   {showSpec},
	v1alpha1.ReasonRetrying:                  {showService},
	v1alpha1.ReasonReviewOutdated:            {reviewAgain, showSpec},
	v1alpha1.ReasonReviewRefused:             {refresh},
	v1alpha1.ReasonSecretInvalid:             {showSpec},
	v1alpha1.ReasonSecretNotForThis:          {"kubectl label secret -n {ns} NAME idv.mandate.io/use=individual"},
	v1alpha1.ReasonSecretNotFound:            {showSpec},
	v1alpha1.ReasonSpecDiffers:               {adopt},
	v1alpha1.ReasonStateUnknown:              {states, "kubectl edit {kind} -n {ns} {service}"},
	v1alpha1.ReasonSuspended:                 {resume},
	string(v1alpha1.OutcomeDeleted):          {refresh},
}

// serviceCommands are those of a service. For other reasons, its conditions say more: showService.
var serviceCommands = map[string][]string{
	v1alpha1.ReasonAccountChanged:        {"kubectl mandate status -A", showService},
	v1alpha1.ReasonApplicationsMissing:   {"kubectl mandate status -A", probe},
	v1alpha1.ReasonCreationBudgetReached: {showService, stop},
	v1alpha1.ReasonCreationSuspended:     {showService, lift},
	v1alpha1.ReasonCredentialsInvalid:    {check},
	v1alpha1.ReasonIdentityServiceError:  {probe},
	v1alpha1.ReasonLoginFailing:          {probe},
	v1alpha1.ReasonMandatesRemain:        {"kubectl mandate status -A"},
	v1alpha1.ReasonReadsFailing:          {probe},
	v1alpha1.ReasonReferencesForbidden:   nil,
	v1alpha1.ReasonStateUnknown:          {states, "kubectl edit {kind} -n {ns} {service}"},
	v1alpha1.ReasonUnreachable:           {check},
	v1alpha1.ReasonWritesFailing:         {probe},
}

var actionCommands = map[string][]string{
	v1alpha1.ReasonCreationBudgetReached:     {showService},
	v1alpha1.ReasonCreationSuspended:         {showService, cancel},
	v1alpha1.ReasonIdentityServiceNotAllowed: {cancel},
	v1alpha1.ReasonIndividualsUnmatched:      {refresh, cancel},
	v1alpha1.ReasonMandateNotReady:           {showStatus},
	v1alpha1.ReasonMandateStalled:            {cancel},
	v1alpha1.ReasonNameUsed:                  {repeatAction},
	v1alpha1.ReasonOutcomeUnknown:            {repeatAction},
	v1alpha1.ReasonRecordRestored:            {showRecord, complete, cancel},
	v1alpha1.ReasonRefused:                   {repeatAction},
	v1alpha1.ReasonRetrying:                  {showStatus},
	v1alpha1.ReasonSecretRefused:             {quotas},
	v1alpha1.ReasonSuspended:                 {resume, cancel},
}

// waitingFor says whom a Mandate waits for that needs nobody.
func waitingFor(v *view) []string {
	var names []string
	for i := range v.Individuals {
		individual := &v.Individuals[i]
		switch pending, review := ptr.Deref(individual.ChecksPending, 0), ptr.Deref(individual.ChecksInReview, 0); {
		case pending > 0:
			names = append(names, individual.Name+": "+plural(pending, "check")+" to do")
		case review > 0:
			names = append(names, individual.Name+": "+plural(review, "check")+" to review")
		}
	}
	return names
}

func plural(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(n, 10) + " " + noun
}
