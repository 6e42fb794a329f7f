package monitoring

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	recordingFile = flag.String("recording", "", "file with the metrics of a run, which operator's TestRecording writes")
	pictureFile   = flag.String("picture", "", "SVG file of the dashboard's picture; that of owners ends with -owners.svg")
)

// maxPicture is how many bytes the picture may have.
const maxPicture = 200 << 10

// Each panel says what it shows and in which unit, and each of its queries gives data of a real run.
func TestDashboard(t *testing.T) {
	t.Parallel()
	if *recordingFile == "" {
		t.Fatal("no -recording: run make test-monitoring")
	}
	recording, err := ReadRecording(*recordingFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, panels := range dashboards {
		t.Run(name, func(t *testing.T) {
			dashboard, err := ReadDashboard(directory + name)
			if err != nil {
				t.Fatal(err)
			}
			if len(dashboard.Panels) < panels {
				t.Fatalf("the dashboard has %d panels", len(dashboard.Panels))
			}
			checkPanels(t, dashboard, recording)
			if *pictureFile != "" {
				draw(t, dashboard, recording, strings.Replace(*pictureFile, ".svg", suffix(name)+".svg", 1))
			}
		})
	}
}

// dashboards have at least so many panels.
var dashboards = map[string]int{"dashboard.json": 20, "dashboard_owners.json": 14}

// suffix is that of the picture.
func suffix(dashboard string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(dashboard, "dashboard"), ".json"), "_", "-")
}

func checkPanels(t *testing.T, dashboard *Dashboard, recording *Recording) {
	t.Helper()
	ids, titles := map[int]bool{}, map[string]bool{}
	for _, panel := range dashboard.Panels {
		if panel.Description == "" || panel.Fields.Defaults.Unit == "" || len(panel.Targets) == 0 || ids[panel.ID] {
			t.Errorf("%s lacks a description, a unit, a query or an id of its own", panel.Title)
		}
		if titles[panel.Type+panel.Title] {
			t.Errorf("two panels are called %s", panel.Title)
		}
		ids[panel.ID], titles[panel.Type+panel.Title] = true, true
		if panel.Grid.X+panel.Grid.W > 24 || panel.Grid.W == 0 || panel.Grid.H == 0 {
			t.Errorf("%s does not fit into the 24 columns", panel.Title)
		}
		if _, err := panel.Lines(recording); err != nil {
			t.Errorf("%s: %v", panel.Title, err)
		}
	}
}

func draw(t *testing.T, dashboard *Dashboard, recording *Recording, file string) {
	t.Helper()
	picture, err := Draw(dashboard, recording)
	if err != nil {
		t.Fatal(err)
	}
	if len(picture) > maxPicture {
		t.Errorf("the picture has %d bytes, more than %d", len(picture), maxPicture)
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Queries use metrics that the table of docs/monitoring.md has, or those of controller-runtime and of the process.
func TestDashboardIsDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	metric := regexp.MustCompile(`idv_\w+`).FindAllString
	shown := map[string]bool{}
	for name := range dashboards {
		dashboard, err := ReadDashboard(directory + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				for _, name := range metric(target.Query, -1) {
					name = strings.TrimSuffix(name, "_bucket")
					shown[name] = true
					if !strings.Contains(string(page), "`"+name+"`") {
						t.Errorf("%s: docs/monitoring.md does not have %s", panel.Title, name)
					}
				}
			}
		}
	}
	if len(shown) < 10 {
		t.Errorf("the dashboard shows %d metrics", len(shown))
	}
}
