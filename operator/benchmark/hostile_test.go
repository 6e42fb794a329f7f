package benchmark_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/test/await"
	"github.com/mandate-io/idv/internal/test/testenv"
)

const (
	// mandatesOfEach hostile service, which are polled every second.
	mandatesOfEach = 8
	// underAttack is how long the peak is looked for.
	underAttack = 15 * time.Second
)

// TestHostileServices: twenty services whose answers cost as much as possible do not get the operator killed.
func TestHostileServices(t *testing.T) {
	testenv.SkipIfShort(t)
	f := newFixture(t, 0)
	peak, limit := f.attack(underAttack)
	if peak > limit {
		t.Errorf("with %d hostile services, the operator takes %.0f MiB; its Pod has %.0f MiB",
			len(costlyAnswers()), peak, limit)
	}
}

// BenchmarkHostileServices measures the same for longer.
func BenchmarkHostileServices(b *testing.B) {
	f := newFixture(b, 0)
	figures.heading(fmt.Sprintf("%d hostile services, with %d Mandates each", len(costlyAnswers()), mandatesOfEach))
	length := time.Minute
	if quick {
		length = underAttack
	}
	peak, limit := f.attack(length)
	figures.add("peak memory (RSS), and the Pod's limit", mib(peak), "", atMost(peak, limit, "%.0f MiB"))
	b.ReportMetric(peak, "peak-MiB")
	b.ReportMetric(0, "ns/op")
}

// attack runs the operator with hostile services, as the manifests run it, and gives its peak memory and the limit of
// the Pod in MiB.
func (f *fixture) attack(length time.Duration) (peak, limit float64) {
	f.Helper()
	if runtime.GOOS != "linux" {
		f.Skip("only Linux tells the peak memory of a process")
	}
	pod, services := manager(f.TB, f.Root), startHostileServices(f.TB)
	namespace := f.Namespace(f.TB)
	operator := f.startOperatorIn(pod.environment, namespace, 10)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "idv"},
		Type:       "idv.mandate.io/credentials",
		StringData: map[string]string{"username": "u", "password": "p"}}
	f.check(f.kube.Create(f.Context(), secret))
	for i := range services.services {
		f.connectTo(namespace, fmt.Sprintf("hostile-%d", i), services.url(i))
	}
	earliest := time.Now().Add(length)
	await.Until(f.TB, func() (bool, string) {
		peak, _ = operator.peak()
		silent := services.silent()
		return len(silent) == 0 && time.Now().After(earliest), fmt.Sprintf("not asked: %q", silent)
	})
	peak, _ = operator.peak()
	limit = float64(pod.memoryLimit) / mebibyte
	f.Logf("%d costly answers; the peak is %.0f MiB, the limit %.0f MiB", services.sent(), peak, limit)
	f.check(operator.Stop())
	return peak, limit
}

// connectTo creates an IdentityService with Mandates, and with an action for each that downloads a report.
func (f *fixture) connectTo(namespace, name, url string) {
	f.Helper()
	service := &v1alpha1.IdentityService{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	service.Spec.CredentialsSecretRef.Name = "idv"
	service.Spec.ServiceSettings = v1alpha1.ServiceSettings{
		BaseURL: url, RequestsPerSecond: unlimited,
		Polling: v1alpha1.Polling{MinIntervalSeconds: 1, MaxIntervalSeconds: 1},
	}
	f.check(f.kube.Create(f.Context(), service))
	for i := range mandatesOfEach {
		mandate := &v1alpha1.Mandate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-%d", name, i)}}
		mandate.Spec.MandateType.Code = "kyc"
		mandate.Spec.ServiceRef.Name = name
		mandate.Spec.Individuals = []v1alpha1.Individual{{Name: "jane", Email: "jane@example.com"}}
		f.check(f.kube.Create(f.Context(), mandate))
		action := &v1alpha1.MandateAction{ObjectMeta: mandate.ObjectMeta}
		action.ResourceVersion, action.UID = "", ""
		action.Spec = v1alpha1.MandateActionSpec{
			MandateRef: v1alpha1.MandateReference{Name: mandate.Name}, Type: v1alpha1.MandateActionDownloadReport,
			Individual: "jane", ReportSecretRef: &v1alpha1.SecretReference{Name: mandate.Name},
		}
		f.check(f.kube.Create(f.Context(), action))
	}
}
