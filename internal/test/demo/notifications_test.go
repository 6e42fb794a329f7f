package main

import (
	"testing"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
)

func TestCheckNotified(t *testing.T) {
	cases := map[string]struct {
		request string
		wantErr string
	}{
		"by a notification": {request: "notification/2026-11-22T19:49:05Z/3"},
		"by a person":       {request: "2026-11-22T19:49:05Z", wantErr: "no notification moved the status of acme"},
		"by nobody":         {wantErr: "no notification moved the status of acme"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			acme := mandate("acme", "Completed")
			acme.Annotations = map[string]string{v1alpha1.ReconcileRequestAnnotation: tc.request}
			if err := checkNotified([]v1alpha1.Mandate{acme}); !matchesError(err, tc.wantErr) {
				t.Errorf("got %v, want %q", err, tc.wantErr)
			}
		})
	}
}

func TestDescribeReads(t *testing.T) {
	all := func(states ...control.DeliveryState) (deliveries []control.Delivery) {
		for _, state := range states {
			deliveries = append(deliveries, control.Delivery{Event: "application.created", State: state})
		}
		return deliveries
	}
	cases := map[string]struct {
		deliveries []control.Delivery
		want       string
		wantErr    string
	}{
		"all arrived": {
			deliveries: all(control.Delivered, control.Delivered), want: "2 notifications, 7 reads of applications",
		},
		"one is on its way": {
			deliveries: all(control.Delivered, control.Queued), want: "2 notifications, 7 reads of applications",
		},
		"one was refused": {deliveries: all(control.Delivered, control.Failed), wantErr: "application.created is failed"},
		"none":            {wantErr: "no notifications"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := describeReads(tc.deliveries, 7)
			if !matchesError(err, tc.wantErr) || err == nil && got != tc.want {
				t.Errorf("got %q, %v, want %q, %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestCheckFound(t *testing.T) {
	answers := func(lost int64) control.Statistics {
		return control.Statistics{Operations: map[control.Operation]control.OperationStatistics{
			control.CreateApplication: {Answers: map[string]int64{control.Lost: lost}},
		}}
	}
	cases := map[string]struct {
		applications []control.Application
		statistics   control.Statistics
		wantErr      string
	}{
		"bound":                 {[]control.Application{{ID: 4711}}, answers(1), ""},
		"no answer was lost":    {[]control.Application{{ID: 4711}}, answers(0), "no answer to a create got lost"},
		"another application":   {[]control.Application{{ID: 4712}}, answers(1), `and its application is 4712`},
		"a second application":  {[]control.Application{{ID: 4711}, {ID: 4712}}, answers(1), "2 applications"},
		"no application at all": {nil, answers(1), "0 applications"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := checkFound("4711", tc.applications, tc.statistics); !matchesError(err, tc.wantErr) {
				t.Errorf("got %v, want %q", err, tc.wantErr)
			}
		})
	}
}
