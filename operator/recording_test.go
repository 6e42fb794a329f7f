package operator_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/sandbox/control"
	"github.com/mandate-io/idv/internal/test/testenv"
)

var recording = flag.String("recording", "", "file into which TestRecording writes the metrics of a run")

const (
	recordingTicks = 150
	recordingTick  = 500 * time.Millisecond
)

// TestRecording records the metrics of a minute in which much goes well and some goes wrong, as Prometheus would see
// them. The dashboard is tested with them: tools/test-monitoring.sh.
func TestRecording(t *testing.T) {
	if *recording == "" {
		t.Skip("without -recording there is nobody to read it: make test-monitoring runs it")
	}
	address := testenv.FreeAddress(t)
	w, url := notified(t, "--metrics-bind-address="+address, "--settle-delay=2s", "--max-concurrent-reconciles=5")
	file, err := os.Create(*recording)
	w.check(err)
	out := bufio.NewWriter(file)
	story := newStory(w, url)
	ticker := time.NewTicker(recordingTick)
	defer ticker.Stop()
	for tick := range recordingTicks {
		story.happens(tick)
		text := w.scrape(address)
		if strings.Contains(text, `state="open"} 1`) {
			w.check(w.sandbox.ClearFaults(t.Context())) // enough has failed
		}
		_, err := fmt.Fprintf(out, "# at %d\n%s", time.Now().UnixMilli(), text)
		w.check(err)
		<-ticker.C
	}
	w.check(out.Flush())
	w.check(file.Close())
}

// story is what happens at each tick of the recording.
type story struct {
	*world
	url    string
	events map[int]func()
}

func newStory(w *world, url string) *story {
	slowCreates := control.Fault{
		Operation: control.CreateApplication, Kind: control.Slow, DelayMillis: 900, Times: 25,
	}
	failingReads := control.Fault{
		Operation: control.RetrieveApplication, Kind: control.Answer, Status: 503, Times: 1000,
	}
	s := &story{world: w, url: url}
	s.events = map[int]func(){
		2:  func() { w.mandate("refused", "{mandateType: {id: 999999}}") },
		4:  func() { w.mandate("no-secret", "{individuals: [{name: jane, detailsSecretRef: {name: absent}}]}") },
		6:  func() { w.mandate("acme", "{individuals: [{name: jane, email: jane@example.com}]}") },
		20: func() { w.action("first", resend) },
		22: func() { w.action("waits", "{type: ResendInvite, mandateRef: {name: no-secret}}") },
		24: func() {
			w.fault(control.Fault{Operation: control.ResendInvites, Kind: control.Answer, Status: 400})
			w.action("refused", resend)
		},
		30: func() { w.fault(answerLost) },
		40: func() { w.fault(requestLost) },
		50: func() { w.post(url+"x", "{}") },
		51: func() { w.post(url, `{"id": 1}`) },
		56: func() { w.fault(slowCreates) },
		84: func() { w.fault(failingReads) },
	}
	return s
}

// happens has a Mandate created, an earlier one reviewed, and one completed, beside what is due.
func (s *story) happens(tick int) {
	if event := s.events[tick]; event != nil {
		event()
	}
	name := func(number int) string { return fmt.Sprintf("mandate-%03d", number) }
	perTick := 1
	if tick > 56 && tick < 70 {
		perTick = 4
	}
	if tick < 120 && tick%2 == 0 {
		for i := range perTick {
			s.mandate(fmt.Sprintf("%s-%d", name(tick), i), "{}")
		}
	}
	if earlier := tick - 20; earlier > 0 && earlier%2 == 0 && earlier < 120 {
		s.progress(name(earlier)+"-0", earlier%8)
	}
	if earlier := tick - 24; earlier > 0 && earlier%8 == 4 && earlier < 120 {
		s.completeIfInReview(name(earlier) + "-0")
	}
}

// progress plays what an individual does, if the application is known already.
func (s *story) progress(mandate string, kind int) {
	m := s.get(mandate)
	if m.Status.ApplicationID == nil {
		return
	}
	result := control.ResultReview
	if kind%4 == 0 {
		result = control.ResultPass
	}
	s.play(m, result)
}

// completeIfInReview completes what has come into review since it was played. It does not wait for that: while reads
// fail, only the ticks end the failures.
func (s *story) completeIfInReview(mandate string) {
	if m := s.get(mandate); m.Status.State == "in review" && m.Status.Evidence != "" {
		s.decide(mandate, v1alpha1.DecisionComplete)
	}
}
