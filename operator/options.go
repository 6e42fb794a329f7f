// Package operator is the Kubernetes operator: Mandates become applications at an identity verification service.
package operator

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Options of the operator. Their flags are BindFlags.
type Options struct {
	MetricsBindAddress      string
	HealthProbeBindAddress  string
	PprofBindAddress        string
	LeaderElect             bool
	LeaderElectionNamespace string
	LeaderElectionID        string
	WatchNamespaces         string
	MaxConcurrentReconciles int
	SettleDelay             time.Duration
	RecordRetention         time.Duration
	DeletionGiveUpAfter     time.Duration
	// Version goes into the User-Agent of requests to the service.
	Version string
}

// BindFlags adds the operator's flags to flags.
func (o *Options) BindFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", "0", "Address on which metrics are served, such as :8080; 0 is nowhere.")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8081", "Address on which /healthz and /readyz are served; 0 is nowhere.")
	flags.StringVar(&o.PprofBindAddress, "pprof-bind-address", "0", "Address on which profiles are served below /debug/pprof/, such as 127.0.0.1:6060; 0 is nowhere. There is no authentication: keep it on loopback.")
	flags.BoolVar(&o.LeaderElect, "leader-elect", false, "Elect a leader, so that several replicas can run and one of them works.")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "", "Namespace of the leader's Lease. Default: the operator's own; needed outside a cluster.")
	flags.StringVar(&o.LeaderElectionID, "leader-election-id", "mandate-operator.idv.mandate.io", "Name of the leader's Lease. Operators that share it are replicas, of which one works. Give each its own if several run in one namespace with different --watch-namespaces; the Role of leader election has to name it, too.")
	flags.StringVar(&o.WatchNamespaces, "watch-namespaces", "", "Namespaces to work in, separated by commas. Default: all.")
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", 10, "How many Mandates of one connection are worked on at a time, and as many MandateActions. Connections do not share them, so that a service that does not answer holds up no other.")
	flags.DurationVar(&o.SettleDelay, "settle-delay", 90*time.Second, "How long to wait after an attempt to create an application whose answer was lost, before it is found out what became of it, and for MandateActions at most 30s of it. An attempt may go out until half of it is over. The operator itself then takes up to 12s to get it out, and waits 12s for the answer: it has to be at least 48s in production, and if the service is at a request for longer than 12s, twice the sum of that and 12s. Shorter ones are for tests.")
	flags.DurationVar(&o.RecordRetention, "record-retention", 365*24*time.Hour, "How long an ApplicationRecord outlives its Mandate. A Mandate that is applied again later than that may create, and e-mail, again: keep it well above the eight weeks after which the service deletes applications.")
	flags.DurationVar(&o.DeletionGiveUpAfter, "deletion-give-up-after", 24*time.Hour, "How long the deletion of a Mandate with deletionPolicy Archive or Delete waits for the service. Then the Mandate goes, and its application is left as it is.")
}

// leastDuration is the shortest that a flag may be. Tests need seconds; none at all would do harm with each of them.
const leastDuration = time.Second

const (
	leastSettleDelay = 48 * time.Second
	leastRetention   = 56 * 24 * time.Hour
)

// Validate says what is wrong with the options, by the names of their flags, and what to do.
func (o *Options) Validate() error {
	var errs []error
	for _, d := range []struct {
		flag, harm string
		value      time.Duration
	}{
		{"settle-delay", "without it no application could be created. Leave it out for 90s", o.SettleDelay},
		{"record-retention", "without it the operator would forget at once what it has sent, and e-mail again. Leave it out for a year", o.RecordRetention},
		{"deletion-give-up-after", "without it deletionPolicy would never be carried out. Leave it out for 24h", o.DeletionGiveUpAfter},
	} {
		if d.value < leastDuration {
			errs = append(errs, fmt.Errorf("--%s is %s and must be at least %s: %s", d.flag, d.value, leastDuration, d.harm))
		}
	}
	if o.MaxConcurrentReconciles < 1 {
		errs = append(errs, fmt.Errorf("--max-concurrent-reconciles is %d and must be at least 1, or nothing is worked on. Leave it out for 10", o.MaxConcurrentReconciles))
	}
	if o.WatchNamespaces != "" && len(o.namespaces()) == 0 {
		errs = append(errs, fmt.Errorf("--watch-namespaces is %q and names no namespace. Leave it out for all namespaces, or name some, as in team-a,team-b", o.WatchNamespaces))
	}
	for _, namespace := range o.namespaces() {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			errs = append(errs, fmt.Errorf("--watch-namespaces has %q, which no namespace can be called: lower-case letters, digits and -. Separate names by commas, as in team-a,team-b", namespace))
		}
	}
	if o.LeaderElect && len(validation.IsDNS1123Subdomain(o.LeaderElectionID)) > 0 {
		errs = append(errs, fmt.Errorf("--leader-election-id is %q, which no Lease can be called: lower-case letters, digits, - and dots. Leave it out for mandate-operator.idv.mandate.io", o.LeaderElectionID))
	}
	return errors.Join(errs...)
}

// Warnings says what is allowed, for tests above all, and dangerous in production.
func (o *Options) Warnings() []string {
	var warnings []string
	if o.SettleDelay < leastSettleDelay {
		warnings = append(warnings, fmt.Sprintf("--settle-delay is below %s: an attempt that is still under way may be taken for a lost one. That is for tests", leastSettleDelay))
	}
	if o.RecordRetention < leastRetention {
		warnings = append(warnings, "--record-retention is below the eight weeks for which the service keeps applications: a Mandate that is applied again may e-mail again. That is for tests")
	}
	return warnings
}

// namespaces gives WatchNamespaces as a list.
func (o *Options) namespaces() []string {
	return strings.FieldsFunc(o.WatchNamespaces, func(r rune) bool { return r == ',' || r == ' ' })
}
