package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// BenchmarkSubscriptions reports the seconds of an apply, an empty plan and a destroy of many resources, the requests
// for each resource and the peak memory of the provider. Each run compares three types of resources: our subscriptions,
// those of the plain provider, and terraform_data, which sends no request and has no process of its own.
func BenchmarkSubscriptions(b *testing.B) {
	for _, application := range []string{"of one application", "of an application each", "of none"} {
		for _, count := range []int{100, 500} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(application, " ", "_"), count), func(b *testing.B) {
				for b.Loop() {
					benchSubscriptions(b, application, count)
				}
				b.ReportMetric(0, "ns/op") // the sum of all three, which means nothing
			})
		}
	}
}

func benchSubscriptions(b *testing.B, application string, count int) {
	s := newServiceWith(b, sandbox.Options{})
	s.setDialect(b, "retrieveWebhook", "list")
	token, err := s.client.AccessToken(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var ids string
	switch application {
	case "of one application":
		ids = fmt.Sprintf("application_id = %d", s.createApplication(b))
	case "of an application each":
		all := make([]string, count)
		for i := range all {
			all[i] = strconv.FormatInt(s.createApplication(b), 10)
		}
		ids = "application_id = [" + strings.Join(all, ",") + "][count.index]"
	}
	const url = "url = \"https://hooks.example.com/${count.index}\""
	usages, dir := filepath.Join(b.TempDir(), "usage"), b.TempDir()
	if err := installMeasuredProviders(dir, builtProvider(b), usages); err != nil {
		b.Fatal(err)
	}
	environment := append(s.environment(),
		"TF_CLI_CONFIG_FILE="+cliConfig(b, dir),
		"PLAIN_BASE_URL="+s.url,
		"PLAIN_TOKEN="+token.Value.Reveal(),
	)
	tofu := cli{"tofu", tofu(b)}
	ours := measure(b, tofu.workspace(b, environment...), s, usages+".idv", required+fmt.Sprintf(`
		resource "idv_webhook_subscription" "many" {
		  count = %d
		  %s
		  %s
		  deletion_policy = "ABANDON"
		}`, count, url, ids))
	// Each configuration requires only its own provider: a CLI starts all that are required, for their schemas.
	requiredPlain := strings.ReplaceAll(required, "idv", "plain")
	plain := measure(b, tofu.workspace(b, environment...), s, usages+".plain", requiredPlain+fmt.Sprintf(`
		resource "plain_subscription" "many" {
		  count = %d
		  %s
		  %s
		}`, count, url, ids))
	builtin := measure(b, tofu.workspace(b, environment...), s, "", fmt.Sprintf(`
		resource "terraform_data" "many" {
		  count = %d
		  input = "https://hooks.example.com/${count.index}"
		}`, count))

	for _, phase := range phases {
		b.ReportMetric(ours[phase].seconds, phase+"-s")
		b.ReportMetric(ours[phase].seconds/plain[phase].seconds, phase+"-x-plain")
		b.ReportMetric(ours[phase].cpu/plain[phase].cpu, phase+"-cpu-x-plain")
		b.ReportMetric(ours[phase].provider.cpu, phase+"-provider-cpu-s")
		b.ReportMetric(ours[phase].provider.cpu/plain[phase].provider.cpu, phase+"-provider-cpu-x-plain")
		b.ReportMetric(ours[phase].seconds/builtin[phase].seconds, phase+"-x-terraform_data")
	}
	b.ReportMetric(float64(ours["apply"].posts)/float64(count), "apply-POSTs/resource")
	b.ReportMetric(float64(ours["apply"].gets)/float64(count), "apply-GETs/resource")
	b.ReportMetric(float64(ours["plan"].gets)/float64(count), "plan-GETs/resource")
	b.ReportMetric(float64(plain["apply"].gets)/float64(count), "plain-apply-GETs/resource")
	b.ReportMetric(float64(plain["plan"].gets)/float64(count), "plain-plan-GETs/resource")
	b.ReportMetric(peak(ours), "peak-MiB")
	b.ReportMetric(peak(plain), "plain-peak-MiB")
}

// peak returns the peak memory of a provider in all phases, in MiB.
func peak(all map[string]measurement) float64 {
	var most float64
	for _, one := range all {
		most = max(most, one.provider.mib)
	}
	return most
}

var phases = []string{"apply", "plan", "destroy"}

type measurement struct {
	seconds     float64
	cpu         float64 // processor seconds of the CLI and the provider, which depend less on other programs
	provider    usage
	posts, gets int64
}

// measure runs all phases of a configuration. The file has the usage of its provider; "" if it has none.
func measure(b *testing.B, w *workspace, s *service, file, configuration string) map[string]measurement {
	b.Helper()
	write(b, filepath.Join(w.dir, "main.tf"), configuration)
	all := map[string]measurement{}
	for _, phase := range phases {
		arguments := map[string][]string{
			"apply": {"apply", "-auto-approve"}, "plan": {"plan", "-detailed-exitcode"}, "destroy": {"destroy", "-auto-approve"},
		}[phase]
		s.resetStats(b)
		start := time.Now()
		r := w.must(b, arguments...)
		all[phase] = measurement{
			seconds: time.Since(start).Seconds(), cpu: r.cpu.Seconds(), provider: takeUsage(b, file),
			posts: s.requests(b, control.SubscribeWebhook), gets: s.requests(b, control.RetrieveWebhook),
		}
	}
	return all
}

// usage is what the runs of a provider used: processor seconds altogether, and the peak memory of one in MiB.
type usage struct{ cpu, mib float64 }

// takeUsage reads and removes the file that the runs of a provider have written.
func takeUsage(b *testing.B, file string) usage {
	b.Helper()
	var all usage
	if file == "" {
		return all
	}
	content, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		var kib, microseconds float64
		if _, err := fmt.Sscan(line, &kib, &microseconds); err != nil {
			b.Fatal(err)
		}
		all.cpu += microseconds / 1e6
		all.mib = max(all.mib, kib/1024)
	}
	return all
}
