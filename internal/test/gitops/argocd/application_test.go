package argocd

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/internal/test/await"
)

// onboarding is the Application of the examples.
const onboarding = "onboarding"

// application is what the tests read of an Application of Argo CD.
type application struct {
	metav1.ObjectMeta `json:"metadata"`
	Status            struct {
		Sync struct {
			Status   string `json:"status"`
			Revision string `json:"revision"`
		} `json:"sync"`
		Health         health          `json:"health"`
		Conditions     []condition     `json:"conditions"`
		OperationState *operationState `json:"operationState"`
		Resources      []struct {
			Kind   string `json:"kind"`
			Name   string `json:"name"`
			Health health `json:"health"`
		} `json:"resources"`
	} `json:"status"`

	text string
}

type health struct {
	Status string `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type operationState struct {
	Phase      string      `json:"phase"`
	Message    string      `json:"message"`
	FinishedAt metav1.Time `json:"finishedAt"`
	SyncResult struct {
		Revision  string `json:"revision"`
		Resources []struct {
			Kind    string `json:"kind"`
			Name    string `json:"name"`
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"resources"`
	} `json:"syncResult"`
}

// failures are what a sync says about objects that it could not apply.
func (o *operationState) failures() string {
	failures := []string{}
	for _, r := range o.SyncResult.Resources {
		if r.Status == "SyncFailed" {
			failures = append(failures, r.Kind+"/"+r.Name+": "+r.Message)
		}
	}
	return strings.Join(failures, "\n")
}

// healthOf is the health that Argo CD shows for an object.
func (a *application) healthOf(kind, name string) string {
	for _, r := range a.Status.Resources {
		if r.Kind == kind && r.Name == name {
			return r.Health.Status
		}
	}
	return ""
}

// until waits until an Application is as it should be.
func (w *world) until(name, what string, done func(*application) bool) *application {
	w.Helper()
	var a *application
	w.Eventually(func() (bool, string) {
		shown := w.Kubectl("get", "application", name, "--namespace", argocdNamespace, "--output=json")
		a = &application{text: shown}
		w.Check(json.Unmarshal([]byte(shown), a))
		if a.Status.OperationState == nil {
			a.Status.OperationState = &operationState{}
		}
		return done(a), fmt.Sprintf("the Application %s is not %s: %s", name, what, shown)
	})
	return a
}

// refresh has Argo CD look for a new commit, as `argocd app get --refresh` does, and waits until it has.
func (w *world) refresh(name string) {
	w.Helper()
	w.Kubectl("annotate", "--overwrite", "application", name, "--namespace", argocdNamespace,
		"argocd.argoproj.io/refresh=normal")
	w.until(name, "refreshed", func(a *application) bool { return a.Annotations["argocd.argoproj.io/refresh"] == "" })
}

func (w *world) publish() {
	w.Helper()
	w.revision = w.commit(w.Files)
	w.refresh(onboarding)
}

// synced waits until Argo CD has applied the latest commit.
func (w *world) synced() *application {
	w.Helper()
	return w.until(onboarding, "Synced", func(a *application) bool {
		return a.Status.Sync.Status == "Synced" && a.Status.Sync.Revision == w.revision &&
			a.Status.OperationState.Phase == "Succeeded" && a.Status.OperationState.SyncResult.Revision == w.revision
	})
}

// applied waits until Argo CD has applied the latest commit, and all of it is healthy.
func (w *world) applied() {
	w.Helper()
	w.synced()
	w.until(onboarding, "Healthy", func(a *application) bool { return a.Status.Health.Status == "Healthy" })
}

// waits waits until a sync of the latest commit waits for something.
func (w *world) waits(message string) *application {
	w.Helper()
	return w.until(onboarding, message, func(a *application) bool {
		state := a.Status.OperationState
		return state.Phase == "Running" && state.SyncResult.Revision == w.revision && strings.Contains(state.Message, message)
	})
}

// fails waits until Argo CD cannot apply an object of the latest commit, and returns what it says.
func (w *world) fails() (message string) {
	w.Helper()
	a := w.until(onboarding, "SyncFailed", func(a *application) bool {
		state := a.Status.OperationState
		return state.SyncResult.Revision == w.revision && state.failures() != "" && !state.FinishedAt.IsZero()
	})
	w.CheckNoPersonalData("the Application", a.text)
	return a.Status.OperationState.failures()
}

// approve confirms a deletion, as the web interface of Argo CD does.
func (w *world) approve() {
	w.Helper()
	w.Kubectl("annotate", "--overwrite", "application", onboarding, "--namespace", argocdNamespace,
		"argocd.argoproj.io/deletion-approved="+time.Now().UTC().Add(time.Second).Format(time.RFC3339))
}

// deleteApplication deletes an Application with its objects, as `argocd app delete` does.
func (w *world) deleteApplication(name string) {
	w.Helper()
	w.patchApplication(name, `{"metadata":{"finalizers":["resources-finalizer.argocd.argoproj.io"]}}`)
	w.Kubectl("delete", "application", name, "--namespace", argocdNamespace, "--wait=false")
}

// goneApplication waits until Argo CD has deleted the objects of an Application.
func (w *world) goneApplication(name string) {
	w.Helper()
	w.Kubectl("wait", "--for=delete", "application/"+name, "--namespace", argocdNamespace,
		await.Timeout(w.T))
}

func (w *world) patchApplication(name, patch string) {
	w.Helper()
	w.Kubectl("patch", "application", name, "--namespace", argocdNamespace, "--type=merge", "--patch="+patch)
}
