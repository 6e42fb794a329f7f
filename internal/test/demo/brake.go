package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// plugin is the kubectl plugin of this project.
func (d *demo) plugin() kubectl {
	plugin := d.kubectl
	plugin.path = filepath.Join(d.programs, "kubectl-mandate")
	return plugin
}

// suspend stops everything that e-mails people.
func (d *demo) suspend(ctx context.Context) (string, error) {
	_, err := d.plugin().run(ctx, "suspend", "identityservice/default")
	return "nobody is e-mailed", d.withOperatorLog(err)
}

// resume lifts the brake once all new Mandates say that they wait for it, and has counted the e-mails meanwhile.
func (d *demo) resume(ctx context.Context) (string, error) {
	waiting := []string{"wait", `--for=jsonpath={.status.conditions[?(@.type=="Ready")].reason}=CreationSuspended`}
	for name := range expected {
		if name != lost {
			waiting = append(waiting, "mandate/"+name)
		}
	}
	if _, err := d.kubectl.run(ctx, append(waiting, waitTimeout)...); err != nil {
		return "", d.withOperatorLog(err)
	}
	emails, err := d.sandbox.Outbox(ctx)
	if err != nil {
		return "", err
	}
	if sent := len(emails) - expected[lost].emails; sent != 0 {
		return "", d.withOperatorLog(fmt.Errorf("%d people were e-mailed although the service was suspended", sent))
	}
	_, err = d.plugin().run(ctx, "resume", "identityservice/default", "--yes")
	return fmt.Sprintf("%d Mandates waited, and nobody was e-mailed", len(expected)-1), d.withOperatorLog(err)
}

// showBudget reads how much of the budget is reserved.
func (d *demo) showBudget(ctx context.Context) (string, error) {
	output, err := d.kubectl.run(ctx, "get", "identityservice", "default", "-o", "json")
	if err != nil {
		return "", err
	}
	service := &v1alpha1.IdentityService{}
	if err := json.Unmarshal([]byte(output), service); err != nil {
		return "", fmt.Errorf("decode the output of kubectl: %w", err)
	}
	used, limits := service.Status.Creation, service.Spec.Creation
	if used == nil || int(used.LastHour) < len(expected) {
		return "", d.withOperatorLog(errors.New("the service does not say how much of its budget is used"))
	}
	return fmt.Sprintf("%d of %d requests an hour are reserved", used.LastHour, limits.MaxPerHour), nil
}

// showHistory shows what was sent for the Mandate whose answer was lost.
func (d *demo) showHistory(ctx context.Context) (string, error) {
	output, err := d.plugin().run(ctx, "history", lost, "-o", "json")
	if err != nil {
		return "", err
	}
	var history struct {
		Calls []struct{ Kind, Result string }
	}
	if err := json.Unmarshal([]byte(output), &history); err != nil {
		return "", fmt.Errorf("decode the output of the plugin: %w", err)
	}
	var calls []string
	for _, call := range history.Calls {
		calls = append(calls, call.Kind+" "+call.Result)
	}
	detail := strings.Join(calls, ", ")
	if want := "Create Done, Complete Done"; detail != want {
		return "", fmt.Errorf("the history of %s is %q, want %q", lost, detail, want)
	}
	return detail, nil
}
