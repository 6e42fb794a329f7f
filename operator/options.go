// Package operator is the Kubernetes operator: Mandates become applications at an identity verification service.
package operator

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/service"
)

// Options of the operator. BindFlags lets flags set them; Validate says what is wrong with them.
type Options struct {
	metricsBindAddress      string
	metricsSecure           bool
	metricsCertPath         string
	metricsCertName         string
	metricsCertKey          string
	healthProbeBindAddress  string
	pprofBindAddress        string
	notificationBindAddress string
	notificationCapture     bool
	separateReceiver        bool
	leaderElect             bool
	leaderElectionNamespace string
	leaderElectionID        string
	watchNamespaces         string
	allowedHosts            string
	allowLoopbackHTTP       bool
	maxConcurrentReconciles int
	maxRequestsPerSecond    int
	minPollInterval         time.Duration
	settleDelay             time.Duration
	recordRetention         time.Duration
	deletionGiveUpAfter     time.Duration
	creationHour            time.Duration
	ruleDelay               time.Duration
	version                 string // in the User-Agent of requests to the service
}

// NewOptions gives the defaults. The version of the operator goes into the User-Agent of requests to the service.
func NewOptions(version string) *Options {
	o := &Options{version: version}
	o.BindFlags(flag.NewFlagSet("", flag.ContinueOnError)) // which sets the defaults
	return o
}

// BindReceiverFlags adds those of the operator's flags that the receiver of notifications has, too.
func (o *Options) BindReceiverFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.metricsBindAddress, "metrics-bind-address", "0",
		"Address of the metrics endpoint, such as :8443; 0 disables it.")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true,
		"Serve the metrics over TLS, only to clients that the API server allows to get /metrics.")
	flags.StringVar(&o.metricsCertPath, "metrics-cert-path", "",
		"Directory of the certificate of the metrics endpoint. Default: a self-signed certificate.")
	flags.StringVar(&o.metricsCertName, "metrics-cert-name", "tls.crt",
		"File of the certificate in --metrics-cert-path.")
	flags.StringVar(&o.metricsCertKey, "metrics-cert-key", "tls.key",
		"File of the private key in --metrics-cert-path.")
	flags.StringVar(&o.healthProbeBindAddress, "health-probe-bind-address", ":8081",
		"Address of the probes /healthz and /readyz; 0 disables them.")
	flags.StringVar(&o.pprofBindAddress, "pprof-bind-address", "0",
		"Loopback address of the profiling endpoint, such as 127.0.0.1:6060; 0 disables it.")
	flags.StringVar(&o.notificationBindAddress, "notification-bind-address", "0",
		"Address of the receiver of the service's notifications, such as :8082; 0 disables it.")
	flags.BoolVar(&o.notificationCapture, "notification-capture", false,
		"Log the field names of notifications. Default: false.")
	flags.StringVar(&o.watchNamespaces, "watch-namespaces", "",
		"Namespaces to watch, separated by commas. Default: all namespaces.")
}

// BindFlags adds the operator's flags to flags.
func (o *Options) BindFlags(flags *flag.FlagSet) {
	o.BindReceiverFlags(flags)
	flags.BoolVar(&o.separateReceiver, "separate-receiver", false,
		"Notifications are received by mandate-operator receive, which runs separately. Default: false.")
	flags.BoolVar(&o.leaderElect, "leader-elect", false,
		"Elect a leader, so that only one of several replicas works. Default: false.")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "",
		"Namespace of the leader's Lease; required outside a cluster. Default: the operator's own namespace.")
	flags.StringVar(&o.leaderElectionID, "leader-election-id", "mandate-operator.idv.mandate.io",
		"Name of the leader's Lease, which the replicas of one operator share.")
	flags.StringVar(&o.allowedHosts, "allowed-hosts", "*",
		"Hosts that spec.baseURL may name, separated by commas, such as *.example.com or idv.example.com:8443.")
	flags.BoolVar(&o.allowLoopbackHTTP, "allow-loopback-http", true,
		"Allow http:// in spec.baseURL for loopback hosts.")
	flags.IntVar(&o.maxConcurrentReconciles, "max-concurrent-reconciles", 10,
		"Maximum number of concurrent reconciles per connection, for Mandates and for MandateActions separately.")
	flags.IntVar(&o.maxRequestsPerSecond, "max-requests-per-second", 0,
		"Ceiling of spec.requestsPerSecond of every connection; 0 is none.")
	flags.DurationVar(&o.minPollInterval, "min-poll-interval", time.Second,
		"Floor of spec.polling.minIntervalSeconds of every connection.")
	flags.DurationVar(&o.settleDelay, "settle-delay", 90*time.Second,
		"Time to wait after a create without a clear answer before sending the same reference again.")
	flags.DurationVar(&o.recordRetention, "record-retention", 365*24*time.Hour,
		"Time to keep an ApplicationRecord after its Mandate is gone.")
	flags.DurationVar(&o.deletionGiveUpAfter, "deletion-give-up-after", 24*time.Hour,
		"Maximum time that a deletion with deletionPolicy Archive or Delete waits for the service.")
	flags.DurationVar(&o.creationHour, "creation-hour", time.Hour,
		"Time that spec.creation.maxPerHour of a service is about; maxPerDay is about 24 times as long.")
	flags.DurationVar(&o.ruleDelay, "rule-delay", minRuleDelay,
		"Time for which an application has to show that the rule of a decision holds.")
}

// minDuration is the minimum of the duration flags. Tests use seconds; zero does harm with each flag.
const minDuration = time.Second

const (
	minSettleDelay = 48 * time.Second
	minRetention   = 56 * 24 * time.Hour
	minRuleDelay   = 10 * time.Minute
)

// Validate says what is wrong with the options, by the names of their flags, and what to do.
func (o *Options) Validate() error {
	var errs []error
	for _, d := range []struct {
		flag, harm string
		value      time.Duration
	}{
		{"settle-delay", "every create would be too late. Remove the flag to use 90s", o.settleDelay},
		{"record-retention", "the operator would forget what it sent and e-mail again. Remove the flag to use a year",
			o.recordRetention},
		{"deletion-give-up-after", "deletionPolicy would never be carried out. Remove the flag to use 24h",
			o.deletionGiveUpAfter},
		{"rule-delay", "checks that come one after the other would be decided on. Remove the flag to use 10m", o.ruleDelay},
		{"creation-hour", "spec.creation would limit nothing. Remove the flag to use 1h", o.creationHour},
		{"min-poll-interval", "no interval of polls is shorter. Remove the flag to use 1s", o.minPollInterval},
	} {
		if d.value < minDuration {
			errs = append(errs, fmt.Errorf("--%s is %s but must be at least %s: %s", d.flag, d.value, minDuration, d.harm))
		}
	}
	if o.maxConcurrentReconciles < 1 {
		errs = append(errs, fmt.Errorf("--max-concurrent-reconciles is %d but must be at least 1. Remove the flag to use 10",
			o.maxConcurrentReconciles))
	}
	if o.maxRequestsPerSecond < 0 {
		errs = append(errs, fmt.Errorf("--max-requests-per-second is %d but must be at least 1. Remove the flag to have no "+
			"ceiling", o.maxRequestsPerSecond))
	}
	if o.watchNamespaces != "" && len(o.namespaces()) == 0 {
		errs = append(errs, fmt.Errorf("--watch-namespaces is %q, which names no namespace. Remove the flag to watch all "+
			"namespaces, or name some, as in team-a,team-b", o.watchNamespaces))
	}
	for _, namespace := range o.namespaces() {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			errs = append(errs, fmt.Errorf("--watch-namespaces contains %q, which is not a valid namespace name. Use "+
				"lower-case letters, digits and -, and separate names by commas, as in team-a,team-b", namespace))
		}
	}
	if _, err := service.ParseHostPatterns(o.allowedHosts); err != nil {
		errs = append(errs, fmt.Errorf("--allowed-hosts: %w", err))
	}
	if o.leaderElect && len(validation.IsDNS1123Subdomain(o.leaderElectionID)) > 0 {
		errs = append(errs, fmt.Errorf("--leader-election-id is %q, which is not a valid Lease name. Use lower-case "+
			"letters, digits, - and dots, or remove the flag to use mandate-operator.idv.mandate.io", o.leaderElectionID))
	}
	return errors.Join(append(errs, o.validateEndpoints())...)
}

// validateEndpoints says what is wrong with the options of the metrics and of the profiles.
func (o *Options) validateEndpoints() error {
	var errs []error
	if address := o.pprofBindAddress; isServed(address) && !isLoopback(address) {
		errs = append(errs, fmt.Errorf("--pprof-bind-address is %q, which is not on a loopback host, and profiles have no "+
			"authentication. Use an address such as 127.0.0.1:6060, and kubectl port-forward", address))
	}
	for _, name := range []string{o.metricsCertName, o.metricsCertKey} {
		if o.metricsCertPath == "" {
			break
		}
		// Without the file, controller-runtime would use a self-signed certificate.
		if _, err := os.Stat(filepath.Join(o.metricsCertPath, name)); err != nil {
			errs = append(errs, fmt.Errorf("--metrics-cert-path has no file %s that can be read (%w). Mount the certificate "+
				"there, or remove the flag to use a self-signed one", name, err))
		}
	}
	return errors.Join(errs...)
}

// isServed reports whether something listens on an address of a flag.
func isServed(address string) bool { return address != "" && address != "0" }

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && client.IsLoopback(host)
}

// Warnings says what is allowed, for tests above all, and dangerous in production.
func (o *Options) Warnings() []string {
	var warnings []string
	if o.settleDelay < minSettleDelay {
		warnings = append(warnings, fmt.Sprintf("--settle-delay is below %s: the operator may treat a running "+
			"create as lost, and send the reference again. Use this in tests only", minSettleDelay))
	}
	if o.recordRetention < minRetention {
		warnings = append(warnings, "--record-retention is below the eight weeks for which the service keeps applications: "+
			"a Mandate that is applied again may e-mail again. Use this in tests only")
	}
	if o.creationHour < time.Hour {
		warnings = append(warnings, "--creation-hour is below 1h: spec.creation of a service allows more e-mails than it "+
			"says. Use this in tests only")
	}
	if o.ruleDelay < minRuleDelay {
		warnings = append(warnings, "--rule-delay is below 10m: a rule may decide before all checks are there. Use this in "+
			"tests only")
	}
	if address := o.metricsBindAddress; !o.metricsSecure && isServed(address) && !isLoopback(address) {
		warnings = append(warnings, "--metrics-secure is false: everybody who reaches the metrics can read them. "+
			"Use this on loopback only")
	}
	return warnings
}

// urls gives allowedHosts and allowLoopbackHTTP as a policy. Validate says what is wrong with them.
func (o *Options) urls() service.URLPolicy {
	hosts, _ := service.ParseHostPatterns(o.allowedHosts)
	return service.URLPolicy{Hosts: hosts, HTTPSOnly: !o.allowLoopbackHTTP}
}

// namespaces gives watchNamespaces as a list.
func (o *Options) namespaces() []string {
	return strings.FieldsFunc(o.watchNamespaces, func(r rune) bool { return r == ',' || r == ' ' })
}
