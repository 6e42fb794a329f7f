package benchmark_test

import (
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/internal/sandbox"
)

// age of the Mandates that populate stores. Their statuses do not say when they were read within the interval.
const age = 25 * time.Hour

// template is a Mandate that an operator has created, with its record.
type template struct {
	mandate v1alpha1.Mandate
	record  v1alpha1.ApplicationRecord
}

// populate stores Mandates and their records in etcd as the operator would have left them a day ago, and creates their
// applications at the sandbox. All are copies of one that the operator has created. Their people got no e-mail, so that
// the sandbox has to remember none.
func (f *fixture) populate(namespace string, n, workers int) {
	f.Helper()
	original := f.newTemplate(namespace, workers)
	service, err := idv.New(idv.Config{BaseURL: f.url, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword)}})
	f.check(err)
	var populating sync.WaitGroup
	failed := make(chan error, creators)
	for creator := range creators {
		populating.Go(func() {
			for first := creator * batch; first < n; first += creators * batch {
				if err := f.populateBatch(service, original, first, min(first+batch, n)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	populating.Wait()
	close(failed)
	f.check(<-failed)
}

// batch is how many Mandates are stored at once.
const batch = 64

func (f *fixture) populateBatch(service *idv.Client, original *template, first, after int) error {
	var mandates, records []client.Object
	for i := first; i < after; i++ {
		mandate, record := original.copyAs(fmt.Sprintf("many-%d", i))
		request := newApplication(mandate, mandate.Status.Reference, mandate.Status.MandateType.ID)
		request.SuppressEmailNotification = true
		created, err := service.CreateApplication(f.Context(), request)
		if err != nil {
			return err
		}
		application, err := service.RetrieveApplication(f.Context(), created.ID)
		if err != nil {
			return err
		}
		bind(mandate, record, application)
		mandates, records = append(mandates, mandate), append(records, record)
	}
	if err := f.Store(f.Context(), v1alpha1.SchemeGroupVersion.Group+"/applicationrecords", records); err != nil {
		return err
	}
	return f.Store(f.Context(), v1alpha1.SchemeGroupVersion.Group+"/mandates", mandates)
}

// newTemplate has an operator create a Mandate.
func (f *fixture) newTemplate(namespace string, workers int) *template {
	f.Helper()
	operator := f.startOperator(namespace, workers)
	operator.connected(namespace)
	mandate := newMandate(namespace, "template", 3)
	mandate.Spec.SuppressEmailNotification = true
	wait := f.awaitReady(namespace, 1)
	f.check(f.kube.Create(f.Context(), mandate))
	wait()
	f.check(operator.Stop())
	t := &template{}
	key := client.ObjectKeyFromObject(mandate)
	f.check(f.kube.Get(f.Context(), key, &t.mandate))
	f.check(f.kube.Get(f.Context(), key, &t.record))
	t.mandate.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("Mandate"))
	t.record.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind("ApplicationRecord"))
	return t
}

// copyAs gives the Mandate and the record another name, and times of a day ago.
func (t *template) copyAs(name string) (*v1alpha1.Mandate, *v1alpha1.ApplicationRecord) {
	m, r := t.mandate.DeepCopy(), t.record.DeepCopy()
	for _, object := range []client.Object{m, r} {
		object.SetName(name)
		object.SetUID(uuid.NewUUID())
		object.SetResourceVersion("")
		object.SetCreationTimestamp(metav1.NewTime(object.GetCreationTimestamp().Add(-age)))
	}
	m.Status.Reference = reference.Mandate("", m.Namespace, name)
	earlier := func(at *metav1.Time) *metav1.Time { return new(metav1.NewTime(at.Add(-age))) }
	m.Status.CreatedTime, m.Status.ExpiryTime = earlier(m.Status.CreatedTime), earlier(m.Status.ExpiryTime)
	m.Status.LastReadTime = earlier(m.Status.LastReadTime)
	for i := range m.Status.Conditions {
		c := &m.Status.Conditions[i]
		c.LastTransitionTime = *earlier(&c.LastTransitionTime)
	}
	r.Spec.MandateRef.UID, r.Spec.Reference = m.UID, m.Status.Reference
	r.Spec.CreatedTime = m.Status.CreatedTime
	return m, r
}

// bind gives the Mandate and the record their application.
func bind(m *v1alpha1.Mandate, r *v1alpha1.ApplicationRecord, application *idv.Application) {
	m.Status.ApplicationID, r.Spec.ApplicationID = &application.ID, &application.ID
	for i := range m.Status.Individuals {
		shown := &m.Status.Individuals[i]
		shown.ID = application.Individuals[i].ID
		for k := range shown.Checks {
			shown.Checks[k].ID = application.Individuals[i].Checks[k].ID
		}
	}
}
