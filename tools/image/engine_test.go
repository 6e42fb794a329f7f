package main

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// An engine loads an archive and runs an image. The image is removed after the test.
type engine struct {
	ready, load, run, remove []string
}

var engines = map[string]engine{
	"podman": {
		ready: []string{"podman", "info"}, load: []string{"podman", "load", "-i"},
		run: []string{"podman", "run", "--rm", "--network=none"}, remove: []string{"podman", "rmi"},
	},
	"docker": {
		ready: []string{"docker", "info"}, load: []string{"docker", "load", "-i"},
		run: []string{"docker", "run", "--rm", "--network=none"}, remove: []string{"docker", "rmi"},
	},
	"containerd": {
		ready: []string{"ctr", "version"}, load: []string{"ctr", "images", "import"},
		run: []string{"ctr", "run", "--rm"}, remove: []string{"ctr", "images", "remove"},
	},
}

// Every engine of this machine takes the archives as they are.
func TestEngines(t *testing.T) {
	found := false
	for name, engine := range engines {
		if _, err := output(t, engine.ready...); err != nil {
			continue
		}
		found = true
		for _, program := range programs {
			t.Run(name+"/"+program, func(t *testing.T) { engine.check(t, program) })
		}
	}
	if !found {
		t.Skip("no Podman, Docker or containerd answers on this machine, so no engine loaded the images")
	}
}

func (e engine) check(t *testing.T, program string) {
	if text, err := output(t, append(e.load, archiveOf(program))...); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(e.load, " "), err, text)
	}
	image := "ghcr.io/mandate-io/" + program + ":" + stamp(t, "VERSION")
	run := slices.Concat(e.run, []string{image})
	if e.run[0] == "ctr" { // it wants a name of the container, and the command
		run = append(run, "test-"+program, "/"+program)
	}
	text, err := output(t, append(run, "--version")...)
	if err != nil && e.run[0] == "docker" { // its older store has no images of several platforms
		image += "-" + runtime.GOARCH
		text, err = output(t, "docker", "run", "--rm", "--network=none", image, "--version")
	}
	t.Cleanup(func() { _, _ = output(t, append(e.remove, image)...) })
	if err != nil || !strings.Contains(text, program+" "+strings.TrimPrefix(stamp(t, "VERSION"), "v")) {
		t.Errorf("%s: %v, %s", image, err, text)
	}
}

func output(t *testing.T, command ...string) (string, error) {
	text, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	return string(text), err
}
