// Package operator is the Kubernetes operator: Mandates become applications at an identity verification service.
package operator

import (
	"flag"
	"strings"
	"time"
)

// Options of the operator. Their flags are BindFlags.
type Options struct {
	MetricsBindAddress      string
	HealthProbeBindAddress  string
	PprofBindAddress        string
	LeaderElect             bool
	LeaderElectionNamespace string
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
	flags.StringVar(&o.WatchNamespaces, "watch-namespaces", "", "Namespaces to work in, separated by commas. Default: all.")
	flags.IntVar(&o.MaxConcurrentReconciles, "max-concurrent-reconciles", 10, "How many Mandates of one connection are worked on at a time, and as many MandateActions. Connections do not share them, so that a service that does not answer holds up no other.")
	flags.DurationVar(&o.SettleDelay, "settle-delay", 90*time.Second, "How long to wait after an attempt to create an application whose answer was lost, before it is found out what became of it, and for MandateActions at most 30s of it. It must be more than twice what the service takes for any request: an attempt may go out until half of it is over.")
	flags.DurationVar(&o.RecordRetention, "record-retention", 365*24*time.Hour, "How long an ApplicationRecord outlives its Mandate. A Mandate that is applied again later than that may create, and e-mail, again.")
	flags.DurationVar(&o.DeletionGiveUpAfter, "deletion-give-up-after", 24*time.Hour, "How long the deletion of a Mandate with deletionPolicy Archive or Delete waits for the service. Then the Mandate goes, and its application is left as it is.")
}

// namespaces gives WatchNamespaces as a list.
func (o *Options) namespaces() []string {
	return strings.FieldsFunc(o.WatchNamespaces, func(r rune) bool { return r == ',' || r == ' ' })
}
