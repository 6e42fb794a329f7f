package plugin

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// A wait of three days reads the Mandate once, and once for each change.
func TestWaitReadsWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		m := newMandate()
		objects := fake.NewClientBuilder().WithScheme(scheme()).WithObjects(m).WithStatusSubresource(m).Build()
		c := &cluster{namespace: m.Namespace, WithWatch: interceptor.NewClient(objects, interceptor.Funcs{
			Get: func(
				ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
			) error {
				reads++
				return c.Get(ctx, key, object, options...)
			},
		})}
		done := make(chan error)
		go func() {
			_, err := c.waitFor(t.Context(), m.Name, hasOutcome(""))
			done <- err
		}()
		for _, outcome := range []v1alpha1.Outcome{"", v1alpha1.OutcomeCompleted} {
			<-time.After(36 * time.Hour)
			m.Status.Outcome = outcome
			m.Status.Progress = "1/2"
			if err := objects.Status().Update(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-done; err != nil || reads != 3 {
			t.Errorf("%d reads, want 3; %v", reads, err)
		}
	})
}
