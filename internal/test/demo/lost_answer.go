package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mandate-io/idv/internal/sandbox/control"
)

// lost is the Mandate whose create gets no answer.
const lost = "umbrella"

// loseAnswer applies a Mandate, of which the service creates the application and the operator is not told so. From then
// on, the table is shown.
func (d *demo) loseAnswer(ctx context.Context) (string, error) {
	fault := control.Fault{Operation: control.CreateApplication, Kind: control.Close, AfterWork: true}
	if err := d.sandbox.Fault(ctx, fault); err != nil {
		return "", err
	}
	d.startWatch(ctx)
	_, err := d.kubectl.run(ctx, "apply", "-f", d.manifest(lost+".yaml"))
	return "the answer to its create gets lost", d.withOperatorLog(err)
}

// awaitFound waits until the Mandate is bound to its application. Only a notification can tell the operator which one.
func (d *demo) awaitFound(ctx context.Context) (string, error) {
	_, err := d.kubectl.run(ctx, "wait", "mandate/"+lost, "--for=condition=Ready", waitTimeout)
	if err != nil {
		return "", d.withOperatorLog(err)
	}
	id, err := d.kubectl.run(ctx, "get", "mandate", lost, "-o", "jsonpath={.status.applicationID}")
	if err != nil {
		return "", err
	}
	applications, err := d.sandbox.Applications(ctx)
	if err != nil {
		return "", err
	}
	statistics, err := d.sandbox.Stats(ctx)
	if err != nil {
		return "", err
	}
	d.summary = append(d.summary, "1 answer lost, and its application found by a notification")
	return "a notification named application " + id, d.withOperatorLog(checkFound(id, applications, statistics))
}

// checkFound returns an error unless an answer got lost, and there is one application, with that id.
func checkFound(id string, applications []control.Application, statistics control.Statistics) error {
	switch {
	case statistics.Operations[control.CreateApplication].Answers[control.Lost] == 0:
		return errors.New("no answer to a create got lost")
	case len(applications) != 1:
		return fmt.Errorf("there are %d applications, want 1", len(applications))
	case id != fmt.Sprint(applications[0].ID):
		return fmt.Errorf("%s is bound to %q, and its application is %d", lost, id, applications[0].ID)
	}
	return nil
}
