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
	peaks, dir := filepath.Join(b.TempDir(), "peak"), b.TempDir()
	if err := installMeasuredProviders(dir, builtProvider(b), peaks); err != nil {
		b.Fatal(err)
	}
	environment := append(s.environment(),
		"TF_CLI_CONFIG_FILE="+cliConfig(b, dir),
		"PLAIN_BASE_URL="+s.url,
		"PLAIN_TOKEN="+token.Value.Reveal(),
	)
	tofu := cli{"tofu", tofu(b)}
	ours := measure(b, tofu.workspace(b, environment...), s, required+fmt.Sprintf(`
		resource "idv_webhook_subscription" "many" {
		  count = %d
		  %s
		  %s
		  deletion_policy = "ABANDON"
		}`, count, url, ids))
	// Each configuration requires only its own provider: a CLI starts all that are required, for their schemas.
	plain := measure(b, tofu.workspace(b, environment...), s, strings.ReplaceAll(required, "idv", "plain")+fmt.Sprintf(`
		resource "plain_subscription" "many" {
		  count = %d
		  %s
		  %s
		}`, count, url, ids))
	builtin := measure(b, tofu.workspace(b, environment...), s, fmt.Sprintf(`
		resource "terraform_data" "many" {
		  count = %d
		  input = "https://hooks.example.com/${count.index}"
		}`, count))

	for _, phase := range phases {
		b.ReportMetric(ours[phase].seconds, phase+"-s")
		b.ReportMetric(ours[phase].seconds/plain[phase].seconds, phase+"-x-plain")
		b.ReportMetric(ours[phase].cpu/plain[phase].cpu, phase+"-cpu-x-plain")
		b.ReportMetric(ours[phase].seconds/builtin[phase].seconds, phase+"-x-terraform_data")
	}
	b.ReportMetric(float64(ours["apply"].posts)/float64(count), "apply-POSTs/resource")
	b.ReportMetric(float64(ours["apply"].gets)/float64(count), "apply-GETs/resource")
	b.ReportMetric(float64(ours["plan"].gets)/float64(count), "plan-GETs/resource")
	b.ReportMetric(float64(plain["apply"].gets)/float64(count), "plain-apply-GETs/resource")
	b.ReportMetric(float64(plain["plan"].gets)/float64(count), "plain-plan-GETs/resource")
	b.ReportMetric(peak(b, peaks+".idv"), "peak-MiB")
	b.ReportMetric(peak(b, peaks+".plain"), "plain-peak-MiB")
}

var phases = []string{"apply", "plan", "destroy"}

type measurement struct {
	seconds     float64
	cpu         float64 // processor seconds, which depend less on other programs
	posts, gets int64
}

func measure(b *testing.B, w *workspace, s *service, configuration string) map[string]measurement {
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
			seconds: time.Since(start).Seconds(), cpu: r.cpu.Seconds(),
			posts: s.requests(b, control.SubscribeWebhook), gets: s.requests(b, control.RetrieveWebhook),
		}
	}
	return all
}

// peak returns the peak memory of all runs of a provider, in MiB.
func peak(b *testing.B, file string) float64 {
	b.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	var most float64
	for line := range strings.Lines(string(content)) {
		kib, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
		if err != nil {
			b.Fatal(err)
		}
		most = max(most, kib/1024)
	}
	return most
}
