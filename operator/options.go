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
	flags.StringVar(&o.MetricsBindAddress, "metrics-bind-address", "0",
		"Address of the metrics endpoint, such as :8080; 0 disables it.")
	flags.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", ":8081",
		"Address of the probes /healthz and /readyz; 0 disables them.")
	flags.StringVar(&o.PprofBindAddress, "pprof-bind-address", "0",
		"Address of the unauthenticated profiling endpoint, such as 127.0.0.1:6060; 0 disables it.")
	flags.BoolVar(&o.LeaderElect, "leader-elect", false,
		"Elect a leader, so that one of several replicas works and the others wait. Default: false.")
	flags.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "",
		"Namespace of the leader's Lease; required outside a cluster. Default: the operator's own namespace.")
	flags.StringVar(&o.LeaderElectionID, "leader-election-id", "mandate-operator.idv.mandate.io",
		"Name of the leader's Lease, which the replicas of one operator share.")
	flags.StringVar(&o.WatchNamespaces, "watch-namespaces", "",
		"Namespaces to watch, separated by commas. Default: all namespaces.")
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", 10,
		"Mandates, and MandateActions, of one connection to reconcile at the same time.")
	flags.DurationVar(&o.SettleDelay, "settle-delay", 90*time.Second,
		"Time to wait after a create without a clear answer before sending the same reference again.")
	flags.DurationVar(&o.RecordRetention, "record-retention", 365*24*time.Hour,
		"Time to keep an ApplicationRecord after its Mandate is gone.")
	flags.DurationVar(&o.DeletionGiveUpAfter, "deletion-give-up-after", 24*time.Hour,
		"Time that a deletion with deletionPolicy Archive or Delete waits for the service.")
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
		{"settle-delay", "every create would be too late. Remove the flag to use 90s", o.SettleDelay},
		{"record-retention", "the operator would forget what it sent and e-mail again. Remove the flag to use a year",
			o.RecordRetention},
		{"deletion-give-up-after", "deletionPolicy would never be carried out. Remove the flag to use 24h",
			o.DeletionGiveUpAfter},
	} {
		if d.value < leastDuration {
			errs = append(errs, fmt.Errorf("--%s is %s but must be at least %s: %s", d.flag, d.value, leastDuration, d.harm))
		}
	}
	if o.MaxConcurrentReconciles < 1 {
		errs = append(errs, fmt.Errorf("--max-concurrent-reconciles is %d but must be at least 1. Remove the flag to use 10",
			o.MaxConcurrentReconciles))
	}
	if o.WatchNamespaces != "" && len(o.namespaces()) == 0 {
		errs = append(errs, fmt.Errorf("--watch-namespaces is %q, which names no namespace. Remove the flag to watch all "+
			"namespaces, or name some, as in team-a,team-b", o.WatchNamespaces))
	}
	for _, namespace := range o.namespaces() {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			errs = append(errs, fmt.Errorf("--watch-namespaces contains %q, which is not a valid namespace name. Use "+
				"lower-case letters, digits and -, and separate names by commas, as in team-a,team-b", namespace))
		}
	}
	if o.LeaderElect && len(validation.IsDNS1123Subdomain(o.LeaderElectionID)) > 0 {
		errs = append(errs, fmt.Errorf("--leader-election-id is %q, which is not a valid Lease name. Use lower-case "+
			"letters, digits, - and dots, or remove the flag to use mandate-operator.idv.mandate.io", o.LeaderElectionID))
	}
	return errors.Join(errs...)
}

// Warnings says what is allowed, for tests above all, and dangerous in production.
func (o *Options) Warnings() []string {
	var warnings []string
	if o.SettleDelay < leastSettleDelay {
		warnings = append(warnings, fmt.Sprintf("--settle-delay is below %s: the operator may take an attempt "+
			"under way for a lost one. Use this in tests only", leastSettleDelay))
	}
	if o.RecordRetention < leastRetention {
		warnings = append(warnings, "--record-retention is below the eight weeks for which the service keeps applications: "+
			"a Mandate that is applied again may e-mail again. Use this in tests only")
	}
	return warnings
}

// namespaces gives WatchNamespaces as a list.
func (o *Options) namespaces() []string {
	return strings.FieldsFunc(o.WatchNamespaces, func(r rune) bool { return r == ',' || r == ' ' })
}
