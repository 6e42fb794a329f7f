package dialect

import (
	"cmp"
	"time"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// The values other than the default of the switches about answers of others and about work that is not done. The
// default is "".
const (
	AnswerHTML          = "html"
	AnswerProblem       = "problem"
	AnswerSuccessFalse  = "success_false"
	AnswerErrorMember   = "error_member"
	AnswerCutOff        = "cut_off"
	ChangeWorkNotDone   = "not_done"
	AsyncDelayed        = "delayed"
	AsyncNever          = "never"
	AsyncCreates        = "creates"
	AsyncChanges        = "other_changes"
	IngressApplications = "applications"
	IngressChanges      = "changes"
	IngressAll          = "all"
)

// defaultAsyncDelay is the delay of asynchronous work if asyncDelay is 0.
const defaultAsyncDelay = 60

const answers = ": HTML, a problem, {\"success\": false}, {\"error\": \"...\"}, or JSON that is cut off"

var proxies = []definition{
	{"changeAnswer", "the body of the 2xx response to a change" + answers,
		[]string{"documented", AnswerHTML, AnswerProblem, AnswerSuccessFalse, AnswerErrorMember, AnswerCutOff}},
	{"changeWork", "whether the work of a change is done that gets a 2xx response",
		[]string{"done", ChangeWorkNotDone}},
	{"readAnswer", "the body of the 2xx response to a read" + answers,
		[]string{"documented", AnswerHTML, AnswerProblem, AnswerSuccessFalse, AnswerErrorMember, AnswerCutOff}},
	{"asyncWork", "when the work of a change is done: before the response, or after a 202, which is later or never",
		[]string{"at_once", AsyncDelayed, AsyncNever}},
	{"asyncOperations", "which changes asyncWork is about",
		[]string{"all", AsyncCreates, AsyncChanges}},
	{"asyncDelay", "seconds of the sandbox's clock between such a 202 and the work; 0 is a minute", nil},
	{"ingress404", "for which paths a proxy in front of the service answers 404: of applications, of changes, or all",
		[]string{"none", IngressApplications, IngressChanges, IngressAll}},
	{"ingressBody", "the body of such a 404: HTML, no body, or JSON that is no problem",
		[]string{"html", ErrorBodyEmpty, ErrorBodyMessage}},
}

// Async reports whether an operation is answered with 202 before its work is done.
func (d Dialect) Async(op control.Operation) bool {
	if d.AsyncWork == "" || !IsChange(op) {
		return false
	}
	switch create := op == control.CreateApplication; d.AsyncOperations {
	case AsyncCreates:
		return create
	case AsyncChanges:
		return !create
	default:
		return true
	}
}

// Work says when the work of an operation is done: after a delay of the sandbox's clock, or not at all.
func (d Dialect) Work(op control.Operation) (delay time.Duration, done bool) {
	async := d.Async(op)
	if d.ChangeWork == ChangeWorkNotDone || async && d.AsyncWork == AsyncNever {
		return 0, false
	}
	if async {
		delay = time.Duration(cmp.Or(d.AsyncDelay, defaultAsyncDelay)) * time.Second
	}
	return delay, true
}
