package sandbox

import (
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/sandbox/dialect"
)

// controlRoutes returns the routes of the control API but the one that lists them. Those about an account are about the
// first one, or the one that the parameter account names.
func controlRoutes() []controlRoute {
	return []controlRoute{
		show("GET", "/overview", "all that the page shows, newest first", (*account).overview),
		list("/outbox", "list the e-mails sent, oldest first; ?after=SEQUENCE skips the earlier ones", (*account).outbox),
		list("/journal", "list the requests of all accounts, oldest first; ?after=SEQUENCE skips the earlier ones",
			(*account).requests),
		remove("/journal", "empty the journal", func(a *account) { a.service.journal.clear() }),
		{"POST", "/verify/requests", `count requests of all accounts, or of the one that is named: {"operation","method",` +
			`"path","status","reference","account","count"}; 409 if there are not as many`,
			control.RequestVerification{}, []control.Request{}, (*account).verifyRequests},
		write("POST", "/verify/emails", `count e-mails: {"address","kind","reference","individual_reference","count"}; `+
			`409 if there are not as many`, (*account).verifyEmails),
		show("GET", "/applications", "list the applications in short form", func(a *account) []control.Application {
			return a.data.Applications()
		}),
		write("POST", "/play", `play: {"reference" or "application_id", "individual", "step", "check", "result"}`,
			func(a *account, play control.Play) (control.Application, error) { return a.data.Play(play) }),
		write("POST", "/state", `move an application to a state: {"reference" or "application_id", "state"}`,
			func(a *account, wanted control.StateChange) (control.Application, error) {
				return a.data.SetState(wanted)
			}),
		show("GET", "/clock", "show the time of the sandbox", (*account).time),
		write("PUT", "/clock", `set the time: {"now": "2026-01-31T12:00:00Z"}`, (*account).setClock),
		write("POST", "/clock/advance", `move the time: {"seconds": 3600}`, (*account).advanceClock),
		show("GET", "/stats", "count logins, and requests and responses per operation", func(a *account) control.Statistics {
			return a.stats.get()
		}),
		remove("/stats", "reset the counts", func(a *account) { a.stats.reset() }),
		show("POST", "/tokens/revoke", "revoke every token", func(a *account) control.Revoked {
			return control.Revoked{Revoked: a.tokens.Revoke()}
		}),
		show("GET", "/faults", "list the pending faults, oldest first", func(a *account) []control.Fault {
			return a.faults.all()
		}),
		write("POST", "/faults", `add one: {"operation","kind","after_work","times","delay_ms","status","body", ...}`,
			func(a *account, fault control.Fault) (none, error) { return none{}, a.faults.add(fault) }),
		remove("/faults", "remove all faults", func(a *account) { a.faults.clear() }),
		show("GET", "/deliveries", "list the webhook deliveries with their states", func(a *account) []control.Delivery {
			return a.queue.Log()
		}),
		show("GET", "/autoplay", "show the autoplay mode", func(a *account) control.Autoplay { return a.autoplayer.get() }),
		write("PUT", "/autoplay", `change the mode: {"enabled": true, "delay_ms": 500}`, (*account).setAutoplay),
		show("GET", "/dialects", "list the dialect switches, their values and meanings", func(a *account) []control.Switch {
			return a.dialect.Get().Switches()
		}),
		write("PUT", "/dialects", `set switches: {"completeMethod": "POST"}`, (*account).setDialects),
		remove("/dialects", "reset every switch to its default", func(a *account) { a.dialect.Set(dialect.Dialect{}) }),
		{"POST", "/reset", "restore the start of every account, or of the one that is named; ids are never reused",
			nil, none{}, (*account).postReset},
	}
}
