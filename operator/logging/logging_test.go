package logging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/mandate-io/idv/operator/logging"
)

// client-go logs bodies from level 8. They are never logged, whichever way a library logs, even at --zap-log-level=10
// and klog's highest level. Messages of lower levels are.
//
// klog's logger is global and has no lock. This test replaces it, so no other test of this package may start anything
// that logs through klog, such as a client of the API server.
func TestLogLevels(t *testing.T) {
	var out bytes.Buffer
	options := zap.Options{DestWriter: &out}
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	options.BindFlags(flags)
	var verbosity klog.Level
	if err := errors.Join(flags.Parse([]string{"--zap-log-level=10"}), verbosity.Set("10")); err != nil {
		t.Fatal(err)
	}
	logger := logging.WithoutBodies(zap.New(zap.UseFlagOptions(&options)))
	klog.SetLogger(logger)
	t.Cleanup(func() {
		klog.ClearLogger()
		_ = verbosity.Set("0")
	})
	withLogger := klog.NewContext(t.Context(), logger)

	logs := map[string]func(level int){
		"logr":                    func(level int) { logger.V(level).Info("canary") },
		"logr, with values":       func(level int) { logger.WithValues("key", "value").V(level).Info("canary") },
		"logr, with a name":       func(level int) { logger.WithName("name").V(level).Info("canary") },
		"logr, level upon level":  func(level int) { logger.V(level / 2).V(level - level/2).Info("canary") },
		"logr, with a call depth": func(level int) { logger.WithCallDepth(1).V(level).Info("canary") },
		"klog":                    func(level int) { klog.V(klog.Level(level)).Info("canary") },
		"klog, structured":        func(level int) { klog.V(klog.Level(level)).InfoS("canary") },
		"klog, from a context":    func(level int) { klog.FromContext(withLogger).V(level).Info("canary") },
		"klog, without a context": func(level int) {
			klog.FromContext(context.WithoutCancel(t.Context())).V(level).Info("canary")
		},
		"a sink without Enabled": func(level int) {
			logger.WithCallDepth(2).WithName("name").GetSink().Info(level, "canary")
		},
	}
	for way, log := range logs {
		t.Run(way, func(t *testing.T) {
			for level := 0; level <= 10; level++ {
				out.Reset()
				log(level)
				klog.Flush()
				if logged := strings.Contains(out.String(), "canary"); logged != (level <= 7) {
					t.Errorf("level %d: logged is %t", level, logged)
				}
			}
		})
	}
}

// The caller in the log is the code that logs, not the wrapper.
func TestLogCaller(t *testing.T) {
	var out string
	logger := logging.WithoutBodies(funcr.NewJSON(func(line string) { out = line }, funcr.Options{LogCaller: funcr.All}))
	helper := func(logger logr.Logger) { logger.WithCallDepth(1).Info("text") }
	for way, log := range map[string]func(){
		"info":       func() { logger.Info("text") },
		"error":      func() { logger.Error(errors.New("fault"), "text") },
		"values":     func() { logger.WithValues("key", "value").Info("text") },
		"name":       func() { logger.WithName("name").Error(nil, "text") },
		"call depth": func() { helper(logger) },
	} {
		log()
		var line struct {
			Caller struct{ File string }
		}
		if err := json.Unmarshal([]byte(out), &line); err != nil || line.Caller.File != "logging_test.go" {
			t.Errorf("%s: the caller is missing or wrong: %s (%v)", way, out, err)
		}
	}
}
