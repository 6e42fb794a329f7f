package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are those of the environment, which `make e2e` passes on.
type options struct {
	steps   []string      // STEPS: keys of the steps to run; all without it
	count   int           // COUNT: how often they run, each time on a new node; once without it
	timeout time.Duration // TIMEOUT of one run, against a hang; an hour without it
}

func newOptions() (options, error) {
	o := options{steps: strings.Fields(os.Getenv("STEPS")), count: 1, timeout: time.Hour}
	var wrong []error
	for _, key := range o.steps {
		if !slices.ContainsFunc((&scenario{}).steps(), func(s step) bool { return s.key == key }) {
			wrong = append(wrong, fmt.Errorf("STEPS has %q, which is no step; docs/e2e.md lists them", key))
		}
	}
	if value := os.Getenv("COUNT"); value != "" {
		count, err := strconv.Atoi(value)
		if o.count = count; err != nil || count < 1 {
			wrong = append(wrong, fmt.Errorf("COUNT is %q, want a number such as 20", value))
		}
	}
	if value := os.Getenv("TIMEOUT"); value != "" {
		timeout, err := time.ParseDuration(value)
		if o.timeout = timeout; err != nil || timeout <= 0 {
			wrong = append(wrong, fmt.Errorf("TIMEOUT is %q, want a duration such as 90m", value))
		}
	}
	return o, errors.Join(wrong...)
}

// selected are the steps that run.
func (o options) selected(steps []step) []step {
	return slices.DeleteFunc(steps, func(s step) bool {
		return len(o.steps) > 0 && s.key != "" && !slices.Contains(o.steps, s.key)
	})
}
