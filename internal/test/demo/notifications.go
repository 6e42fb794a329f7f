package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

// createToken makes the token that the sender of notifications has. A file keeps it out of the list of processes.
func (d *demo) createToken(ctx context.Context) (string, error) {
	d.token = rand.Text() + rand.Text()
	path := filepath.Join(d.Dir, "token")
	if err := os.WriteFile(path, []byte(d.token), 0o600); err != nil {
		return "", err
	}
	_, err := d.kubectl.run(ctx, "create", "secret", "generic", "idv-notifications",
		"--type=idv.mandate.io/notifications", "--from-file=token="+path)
	return "a random token", err
}

// checkNotifications checks that each status was read because of a notification.
func (d *demo) checkNotifications(ctx context.Context) (string, error) {
	mandates, err := d.mandates(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("those of %d Mandates", len(mandates)), d.withOperatorLog(checkNotified(mandates))
}

// checkNotified returns an error unless a notification has requested a read of each Mandate. The next poll is in an
// hour, so nothing else can have moved its status.
func checkNotified(mandates []v1alpha1.Mandate) error {
	var missing []error
	for i := range mandates {
		request := mandates[i].Annotations[v1alpha1.ReconcileRequestAnnotation]
		if !strings.HasPrefix(request, v1alpha1.NotificationRequestPrefix) {
			missing = append(missing, fmt.Errorf("no notification moved the status of %s", mandates[i].Name))
		}
	}
	return errors.Join(missing...)
}

func (d *demo) countReads(ctx context.Context) (string, error) {
	deliveries, err := d.sandbox.Deliveries(ctx)
	if err != nil {
		return "", err
	}
	statistics, err := d.sandbox.Stats(ctx)
	if err != nil {
		return "", err
	}
	detail, err := describeReads(deliveries, statistics.Requests(control.RetrieveApplication))
	d.summary = append(d.summary, detail)
	return detail, d.withOperatorLog(err)
}

// describeReads returns the counts, or an error unless the operator took every notification.
func describeReads(deliveries []control.Delivery, reads int64) (string, error) {
	var refused []error
	for i := range deliveries {
		if state := deliveries[i].State; state != control.Delivered && state != control.Queued {
			refused = append(refused, fmt.Errorf("the notification %s is %s", deliveries[i].Event, state))
		}
	}
	if len(deliveries) == 0 {
		refused = append(refused, errors.New("the sandbox sent no notifications"))
	}
	return fmt.Sprintf("%d notifications, %d reads of applications", len(deliveries), reads), errors.Join(refused...)
}
