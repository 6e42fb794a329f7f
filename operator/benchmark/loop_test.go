package benchmark_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	_ "net/http/pprof" // served beside the metrics
	"os"
	"os/exec"
	"regexp"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/internal/reference"
	"github.com/mandate-io/idv/internal/sandbox"
	"github.com/mandate-io/idv/internal/test/testenv"
	"github.com/mandate-io/idv/operator"
	"github.com/mandate-io/idv/operator/ledger"
)

// loopVariable is the environment variable that makes this program the bare loop.
const loopVariable = "BENCHMARK_LOOP"

// plan is the input of the bare loop.
type plan struct {
	Kubeconfig, Namespace, URL, Address string
	Workers                             int
}

var loopReady = regexp.MustCompile("ready")

// startLoop starts the bare loop, and waits until it is ready to start.
func (f *fixture) startLoop(namespace string, workers int) worker {
	f.Helper()
	address := testenv.FreeAddress(f)
	encoded, err := json.Marshal(plan{
		Kubeconfig: f.kubeconfig, Namespace: namespace, URL: f.url, Address: address, Workers: workers,
	})
	f.check(err)
	l := worker{fixture: f, name: "loop", metrics: address, pprof: address}
	command := exec.CommandContext(context.WithoutCancel(f.Context()), os.Args[0])
	command.Env = append(os.Environ(), loopVariable+"="+string(encoded))
	l.Process, err = f.Start("loop", command)
	f.check(err)
	_, err = l.WaitForLog(f.Context(), loopReady)
	f.check(err)
	return l
}

// loop makes the requests of the create protocol, and nothing else. It compares nothing, and exits when a request
// fails.
type loop struct {
	plan
	kube    client.Client
	service *idv.Client
}

func runLoop(encoded string) error {
	l := loop{}
	if err := json.Unmarshal([]byte(encoded), &l.plan); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // like the operator's
	if l.kube, err = client.New(config, client.Options{Scheme: operator.Scheme()}); err != nil {
		return err
	}
	l.service, err = idv.New(idv.Config{BaseURL: l.URL, RequestsPerSecond: -1,
		Credentials: idv.Credentials{Username: sandbox.DefaultUsername, Password: idv.Hide(sandbox.DefaultPassword)}})
	if err != nil {
		return err
	}
	ctx := context.Background()
	references, err := l.service.RetrieveReferences(ctx) // logs in, too
	if err != nil {
		return err
	}
	kyc := idv.MatchReferences(references.MandateTypes, idv.Reference{Code: "kyc"})
	if len(kyc) != 1 {
		return errors.New("the service has no mandate type kyc")
	}
	var mandates v1alpha1.MandateList
	if err := l.kube.List(ctx, &mandates, client.InNamespace(l.Namespace)); err != nil {
		return err
	}
	l.waitForStart()
	if err := l.run(ctx, mandates.Items, kyc[0].ID); err != nil {
		return err
	}
	select {} // the benchmark reads the metrics, and then ends the process
}

// waitForStart serves the metrics, and waits for the request to start.
func (l *loop) waitForStart() {
	start := make(chan struct{})
	http.HandleFunc("POST /start", func(http.ResponseWriter, *http.Request) { close(start) })
	http.Handle("GET /metrics", promhttp.Handler())
	go func() {
		fmt.Fprintln(os.Stderr, http.ListenAndServe(l.Address, nil))
		os.Exit(1)
	}()
	fmt.Fprintln(os.Stderr, "ready")
	<-start
}

func (l *loop) run(ctx context.Context, mandates []v1alpha1.Mandate, mandateType int64) error {
	work := make(chan *v1alpha1.Mandate)
	failed := make(chan error, l.Workers)
	var workers sync.WaitGroup
	for range l.Workers {
		workers.Go(func() {
			for mandate := range work {
				if err := l.create(ctx, mandate, mandateType); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for i := range mandates {
		select {
		case work <- &mandates[i]:
		case err := <-failed:
			return err
		}
	}
	close(work)
	workers.Wait()
	close(failed)
	return <-failed
}

// create makes the six requests of a Mandate, with bodies like the operator's.
func (l *loop) create(ctx context.Context, mandate *v1alpha1.Mandate, mandateType int64) error {
	name := reference.Mandate("", mandate.Namespace, mandate.Name)
	record := l.newRecord(mandate, name)
	if err := l.kube.Create(ctx, record); err != nil {
		return err
	}
	if err := l.kube.Get(ctx, client.ObjectKeyFromObject(mandate), mandate); err != nil { // for the personal data
		return err
	}
	created, err := l.service.CreateApplication(ctx, newApplication(mandate, name, mandateType))
	if err != nil {
		return err
	}
	now := metav1.Now().Rfc3339Copy()
	deposit, err := json.Marshal([]map[string]any{
		{"op": "add", "path": "/spec/applicationID", "value": created.ID},
		{"op": "add", "path": "/spec/createdTime", "value": now},
	})
	if err != nil {
		return err
	}
	if err := l.kube.Patch(ctx, record, client.RawPatch(types.JSONPatchType, deposit)); err != nil {
		return err
	}
	application, err := l.service.RetrieveApplication(ctx, created.ID)
	if err != nil {
		return err
	}
	before := mandate.DeepCopy()
	setStatus(mandate, application, name, now)
	return l.kube.Status().Patch(ctx, mandate, client.MergeFrom(before))
}

func (l *loop) newRecord(mandate *v1alpha1.Mandate, name string) *v1alpha1.ApplicationRecord {
	create := ledger.New(v1alpha1.CallCreate, time.Now())
	create.Seq, create.Inputs = 1, "0123456789abcdef0123456789abcdef"
	return &v1alpha1.ApplicationRecord{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: mandate.Namespace, Name: mandate.Name,
		},
		Spec: v1alpha1.ApplicationRecordSpec{
			Salt: ledger.NewSalt(), Account: "0123456789abcdef0123456789abcdef", ServiceURL: l.URL, Reference: name,
			Calls:      []v1alpha1.Call{create},
			MandateRef: v1alpha1.RecordedMandate{UID: mandate.UID},
		},
	}
}

func newApplication(mandate *v1alpha1.Mandate, name string, mandateType int64) idv.NewApplication {
	application := idv.NewApplication{Name: idv.Hide(mandate.Spec.Name), Reference: name, MandateTypeID: mandateType}
	for _, i := range mandate.Spec.Individuals {
		application.Individuals = append(application.Individuals, idv.NewIndividual{
			Reference: idv.Hide(reference.Individual(name, i.Name)), Email: idv.Hide(i.Email),
			FirstName: idv.Hide(i.FirstName), LastName: idv.Hide(i.LastName),
			DateOfBirth: idv.Hide(i.DateOfBirth), Gender: idv.Hide(i.Gender),
		})
	}
	return application
}

func setStatus(mandate *v1alpha1.Mandate, application *idv.Application, name string, now metav1.Time) {
	state := func(s idv.State) *v1alpha1.ServiceState { return &v1alpha1.ServiceState{ID: s.ID, Name: s.Name} }
	expiry := metav1.NewTime(now.Add(56 * 24 * time.Hour))
	status := v1alpha1.MandateStatus{
		ObservedGeneration: mandate.Generation, ApplicationID: &application.ID, Reference: name,
		State:    application.State.Name,
		Progress: fmt.Sprintf("0/%d", 3*len(application.Individuals)), CreatedTime: &now, ExpiryTime: &expiry,
		MandateType: &v1alpha1.MandateType{
			ID: application.MandateType.ID, Name: application.MandateType.Name, Code: application.MandateType.Code,
		},
	}
	for i := range application.Individuals {
		individual := &application.Individuals[i]
		observed := v1alpha1.IndividualStatus{
			Name: mandate.Spec.Individuals[i].Name, ID: individual.ID, State: state(individual.State),
			TermsAccepted: &individual.TermsAccepted, ChecksInReview: new(int64),
			ChecksPending: new(int64(individual.ChecksPending)), ChecksPassed: new(int64),
		}
		for _, c := range individual.Checks {
			check := v1alpha1.CheckStatus{ID: c.ID, Name: c.Name, Title: c.Title, State: state(c.State)}
			observed.Checks = append(observed.Checks, check)
		}
		status.Individuals = append(status.Individuals, observed)
	}
	for condition, value := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionReady: metav1.ConditionTrue, v1alpha1.ConditionResolvedRefs: metav1.ConditionTrue,
		v1alpha1.ConditionCreated: metav1.ConditionTrue, v1alpha1.ConditionCompleted: metav1.ConditionFalse,
	} {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type: condition, Status: value, Reason: "Accepted", ObservedGeneration: mandate.Generation,
			LastTransitionTime: now, Message: "A sentence that is about as long as those of the operator are, in the middle.",
		})
	}
	mandate.Status = status
}
