// Command mandate-operator runs the Kubernetes operator, inside a cluster or outside with a KUBECONFIG.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	_ "golang.org/x/crypto/x509roots/fallback" // the image has no other certificates of authorities
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/version"
	"github.com/mandate-io/idv/operator"
	"github.com/mandate-io/idv/operator/logging"
)

func main() {
	client.RedactStandardLog()
	options := operator.NewOptions(version.Number())
	logOptions := zap.Options{}
	start := operator.Run
	if len(os.Args) > 1 && os.Args[1] == "receive" {
		start = operator.Receive
		os.Args = append(os.Args[:1:1], os.Args[2:]...)
		options.BindReceiverFlags(flag.CommandLine)
	} else {
		options.BindFlags(flag.CommandLine)
	}
	logOptions.BindFlags(flag.CommandLine)
	showVersion := flag.Bool("version", false, "Print the version and exit.")
	flag.Usage = usage
	flag.Parse()
	if *showVersion {
		fmt.Println(version.Line("mandate-operator"))
		return
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "mandate-operator: takes no arguments but receive, only flags; see --help\n")
		os.Exit(2)
	}
	if err := options.Validate(); err != nil {
		fmt.Fprintf(os.Stderr, "mandate-operator: %v\n", err)
		os.Exit(2)
	}
	logger := logging.WithoutBodies(zap.New(zap.UseFlagOptions(&logOptions)))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger) // client-go and leader election
	ctrl.Log.Info("Starting " + version.Line("mandate-operator"))
	for _, warning := range options.Warnings() {
		ctrl.Log.Info("Warning: " + warning)
	}
	os.Exit(run(start, options))
}

func run(start func(context.Context, *rest.Config, *operator.Options) error, options *operator.Options) int {
	ctx := ctrl.SetupSignalHandler()
	config, err := ctrl.GetConfig()
	if err != nil {
		ctrl.Log.Error(err, "No cluster configured, set --kubeconfig or KUBECONFIG, or run in a cluster")
		return 1
	}
	err = start(ctx, config, options)
	switch {
	case meta.IsNoMatchError(err):
		ctrl.Log.Error(
			err,
			"CRDs are missing in the cluster, install the chart mandate-operator-crds, or run kubectl apply -k config/crd",
		)
		return 1
	case err != nil:
		ctrl.Log.Error(err, "The operator failed")
		return 1
	}
	return 0
}

func usage() {
	fmt.Fprint(
		os.Stderr,
		`mandate-operator creates an application at an identity verification service for each Mandate. The status of
the Mandate shows the progress of each individual. The operator runs in a cluster, or outside with --kubeconfig or
KUBECONFIG.

With receive as the first argument, it only receives the notifications of the service. That process needs no Secrets,
and an account that may read Mandates and services, and patch their annotations.

Flags:
`,
	)
	flag.PrintDefaults()
}
