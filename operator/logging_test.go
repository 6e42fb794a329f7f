package operator_test

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

	"github.com/mandate-io/idv/operator"
)

// Bodies, which client-go logs from level 8 on, appear by none of the ways in which libraries log, at --zap-log-level=10
// and with klog's own level as high. What is below appears, so that a level of 7 is of use.
func TestLogLevels(t *testing.T) {
	var out bytes.Buffer
	options := zap.Options{DestWriter: &out}
	flags := flag.NewFlagSet("operator", flag.ContinueOnError)
	options.BindFlags(flags)
	var verbosity klog.Level
	if err := errors.Join(flags.Parse([]string{"--zap-log-level=10"}), verbosity.Set("10")); err != nil {
		t.Fatal(err)
	}
	logger := operator.WithoutBodies(zap.New(zap.UseFlagOptions(&options)))
	klog.SetLogger(logger)
	t.Cleanup(func() { klog.ClearLogger(); _ = verbosity.Set("0") })
	withLogger := klog.NewContext(t.Context(), logger)

	ways := map[string]func(level int){
		"logr":                     func(level int) { logger.V(level).Info("canary") },
		"logr, with values":        func(level int) { logger.WithValues("key", "value").V(level).Info("canary") },
		"logr, with a name":        func(level int) { logger.WithName("name").V(level).Info("canary") },
		"logr, level upon level":   func(level int) { logger.V(level / 2).V(level - level/2).Info("canary") },
		"logr, with a call depth":  func(level int) { logger.WithCallDepth(1).V(level).Info("canary") },
		"klog":                     func(level int) { klog.V(klog.Level(level)).Info("canary") },
		"klog, structured":         func(level int) { klog.V(klog.Level(level)).InfoS("canary") },
		"klog, of a context":       func(level int) { klog.FromContext(withLogger).V(level).Info("canary") },
		"klog, of no context":      func(level int) { klog.FromContext(context.WithoutCancel(t.Context())).V(level).Info("canary") },
		"a sink that is not asked": func(level int) { logger.WithCallDepth(2).WithName("name").GetSink().Info(level, "canary") },
	}
	for way, log := range ways {
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

// The line that logged is named, and not one of the cap.
func TestLogCaller(t *testing.T) {
	var out string
	logger := operator.WithoutBodies(funcr.NewJSON(func(line string) { out = line }, funcr.Options{LogCaller: funcr.All}))
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
			t.Errorf("%s: the caller is not named: %s (%v)", way, out, err)
		}
	}
}
