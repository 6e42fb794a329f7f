package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The secrets of the user. The service repeats them in its answers, under names that the state may hold.
const (
	userSecret   = "CanqvUserSecret0123456789"
	userPassword = "CanqvPassword0123456789"
	userToken    = "CanqvToken0123456789"
	urlToken     = "CanqvURLToken0123456789" // in the path of url_wo
	madeSecret   = "made-by-the-service-0123456789"
)

// leakyService answers every request with all canaries.
type leakyService struct {
	url string
	// subscribed means that there is a webhook of the application.
	subscribed atomic.Bool
	// rejects are the ends of the paths whose requests fail.
	rejects atomic.Pointer[[]string]
	// crash, if set, is called in the middle of an answer.
	crash atomic.Pointer[func()]
}

func newLeakyService(t *testing.T) *leakyService {
	t.Helper()
	s := &leakyService{}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *leakyService) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Request-Id", "CanqvHeader")
	request, _ := io.ReadAll(r.Body)
	if rejects := s.rejects.Load(); rejects != nil {
		for _, end := range *rejects {
			if strings.Contains(r.URL.Path, end) {
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, leakyProblem(r.URL.Path))
				return
			}
		}
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/token"):
		fmt.Fprint(w, encodeSomeCanaries(map[string]any{
			"access_token": userToken, "expires_in": 3600, "token_type": "Bearer", "refresh_token": "CanqvRefresh",
		}, 20))
	case strings.HasSuffix(path, "/references"):
		fmt.Fprint(w, encodeReferenceCanaries(map[string]any{
			"mandate_types": []any{map[string]any{"id": 17, "code": "kyc", "name": "Know your customer", "owner": "CanqvOwner"}},
			"countries":     []any{map[string]any{"code": "GB", "name": "United Kingdom", "contact": "CanqvContact"}},
			"user":          map[string]any{"name": "CanqvUser"},
		}))
	case strings.HasSuffix(path, "/subscribe"):
		s.subscribed.Store(s.subscribed.Load() || strings.Contains(string(request), "application_id"))
		fmt.Fprint(w, encodeSomeCanaries(leakyWebhook(), 3))
	case strings.Contains(path, "/applications/"):
		fmt.Fprint(w, encodeSomeCanaries(map[string]any{"id": 4711}, 3))
	case !s.subscribed.Load():
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, leakyProblem(r.URL.Path))
	default:
		answer := encodeCanaries(map[string]any{"webhooks": []any{json.RawMessage(encodeCanaries(leakyWebhook()))}})
		if crash := s.crash.Swap(nil); crash != nil {
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			_, _ = io.WriteString(w, answer[:len(answer)-1])
			_ = http.NewResponseController(w).Flush()
			(*crash)()
		}
		_, _ = io.WriteString(w, answer)
	}
}

// leakyWebhook is a webhook with all that the state may hold, and with the secrets of the user under such names.
func leakyWebhook() map[string]any {
	return map[string]any{
		"id": 7, "url": "https://hooks.example.com/idv", "events": []any{"application.completed"}, "application_id": 4711,
		"status": "active", "created_at": "2026-01-02T03:04:05Z", "signing_secret": madeSecret, "whsec": "kept-by-the-user",
		"secret": userSecret, "webhook_secret": "Bearer " + userSecret, "signing_key": userSecret[:20], "hmac": userSecret,
		"phone": "+44 7700 900001", "callback": "https://hooks.example.com/" + urlToken + "/idv", "path": urlToken[:20],
	}
}

// leakyProblem repeats the secrets of the request in the texts about a rejected request, which errors show for requests
// that are about no person. All other members hold canaries. A request for references sends no secret but the token.
func leakyProblem(path string) string {
	secrets := []string{userPassword, "Bearer " + userToken}
	if !strings.HasSuffix(path, "/references") {
		secrets = append(secrets, userSecret, "?key="+userSecret, "https://hooks.example.com/"+urlToken+"/idv")
	}
	return encodeSomeCanaries(map[string]any{
		"type": "", "status": "400", "instance": "/CanqvInstance", "title": "Bad " + secrets[0],
		"detail": "Not " + strings.Join(secrets, " nor "), "exception": map[string]any{"url": secrets, "secret": secrets},
	}, 20)
}

const leakyConfig = `
variable "secret" {
  type      = string
  ephemeral = true
}
variable "token" {
  type      = string
  ephemeral = true
}
data "idv_references" "all" {}
data "idv_mandate_type" "kyc" { code = "kyc" }
data "idv_webhook" "w" { application_id = 4711 }
ephemeral "idv_access_token" "t" {}
resource "idv_webhook_subscription" "readable" {
  url                  = "https://hooks.example.com/idv"
  application_id       = 4711
  events               = ["application.completed"]
  payload_json_wo      = jsonencode({ secret = var.secret })
  response_export_values = {
    whsec = "/whsec", made = "/signing_secret", hmac = "/hmac", part = "/signing_key", bearer = "/webhook_secret"
  }
}
resource "idv_webhook_subscription" "unreadable" {
  url_wo          = "https://hooks.example.com/${var.token}/idv"
  payload_json_wo = jsonencode({ auth = { value = var.secret } })
  response_export_values = {
    made = "/signing_secret", url = "/callback", path = "/path"
  }
}
resource "idv_webhook_subscription" "by_application" {
  url_wo         = "https://hooks.example.com/${var.token}/idv"
  url_wo_version = 1
  application_id = 4711
  depends_on     = [idv_webhook_subscription.readable]
}
`

// No canary leaves the memory of the provider, wherever it is in an answer.
func TestCanariesStayOut(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, core := range leakPattern.FindAllString(encodeCanaries(leakyWebhook()), -1) {
		found[strings.ToLower(core)] = true
	}
	for _, c := range twoHundredCanaries() {
		if !found[c.core] {
			t.Errorf("%v is not in the answers, or cannot be found", c)
		}
	}
	onEachCLI(t, func(t *testing.T, c cli) {
		s := newLeakyService(t)
		log, pids := filepath.Join(t.TempDir(), "trace.log"), filepath.Join(t.TempDir(), "pids")
		w := c.workspace(t, "IDV_BASE_URL="+s.url, "IDV_USERNAME=u", "IDV_PASSWORD="+userPassword,
			"TF_VAR_secret="+userSecret, "TF_VAR_token="+urlToken, "TF_LOG=TRACE", "TF_LOG_PATH="+log,
			"TF_CLI_CONFIG_FILE="+cliConfig(t, providerWithPIDFile(t, pids)))
		w.configure(t, leakyConfig)
		outputs := map[string]string{}
		outputs["plan"] = w.must(t, "plan", "-out=tfplan").output
		outputs["plan in JSON"] = w.must(t, "show", "-json", "tfplan").output
		outputs["plan file"] = unzipped(t, filepath.Join(w.dir, "tfplan"))
		applied := w.must(t, "apply", "tfplan")
		outputs["apply"] = applied.output
		outputs["plan of a refresh"] = w.must(t, "plan", "-out=tfplan").output
		outputs["plan of a refresh in JSON"] = w.must(t, "show", "-json", "tfplan").output
		outputs["plan file of a refresh"] = unzipped(t, filepath.Join(w.dir, "tfplan"))
		outputs["apply of a refresh"] = w.must(t, "apply", "-auto-approve").output
		outputs["state"] = w.state(t)
		outputs["private state"] = privateStateOf(t, outputs["state"])
		outputs["state in JSON"] = w.must(t, "show", "-json").output
		checkAllowedValues(t, outputs["state"])
		checkNulls(t, applied.warnings)

		for _, rejects := range [][]string{{"/retrieve/", "/references"}, {"/token"}} {
			s.rejects.Store(&rejects)
			r := w.run(t, "plan")
			if r.exit == 0 {
				t.Errorf("want errors if %s fails", rejects)
			}
			outputs["errors of "+rejects[0]] = r.output
		}
		s.rejects.Store(&[]string{"/subscribe"})
		w.configure(t, strings.ReplaceAll(leakyConfig, `"unreadable"`, `"rejected"`))
		w.must(t, "state", "rm", "idv_webhook_subscription.unreadable")
		rejected := w.run(t, "apply", "-auto-approve")
		if !has(rejected.errors, "Cannot create the webhook subscription") {
			t.Errorf("want an error about the rejected request, got %+v", rejected.errors)
		}
		outputs["errors of /subscribe"] = rejected.output

		crash := func() {
			if err := signalProvider(pids, syscall.SIGQUIT); err != nil {
				t.Error(err)
			}
		}
		s.crash.Store(&crash)
		s.rejects.Store(nil)
		crashed := w.run(t, "plan")
		outputs["crash"] = crashed.output
		outputs["trace"] = read(t, log)
		if crashed.exit == 0 || !strings.Contains(outputs["trace"], "SIGQUIT") {
			t.Error("the provider did not crash, so the test proves nothing")
		}
		if !containsAll(outputs["trace"], []string{"Request to the identity verification service", "[TRACE]"}) {
			t.Error("the log has no traces, or none of the provider, so the test proves nothing")
		}
		for where, text := range outputs {
			mustNotLeak(t, where, text)
		}
	})
}

// checkAllowedValues checks that the state has what it is meant to have, and nothing beside it.
func checkAllowedValues(t *testing.T, state string) {
	t.Helper()
	var file struct {
		Resources []struct {
			Name      string
			Instances []struct{ Attributes map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(state), &file); err != nil {
		t.Fatal(err)
	}
	attributes := map[string]map[string]any{}
	for _, r := range file.Resources {
		attributes[r.Name] = r.Instances[0].Attributes
	}
	for resource, want := range map[string]map[string]any{
		"readable": {
			"whsec": "kept-by-the-user", "made": madeSecret, "hmac": nil, "part": nil, "bearer": nil,
		},
		"unreadable": {"made": madeSecret, "url": nil, "path": nil},
	} {
		if diff := cmp.Diff(want, attributes[resource]["output"]); diff != "" {
			t.Errorf("output of %s (-want +got):\n%s", resource, diff)
		}
		if attributes[resource]["subscription_id"] != 7.0 || attributes[resource]["readable"] != (resource == "readable") {
			t.Errorf("%s: %v", resource, attributes[resource])
		}
		pointers, _ := attributes[resource]["response_pointers"].([]any)
		if len(pointers) < 20 || !slices.Contains(pointers, any("/whsec")) {
			t.Errorf("%s: want the first pointers, got %v", resource, pointers)
		}
	}
	var webhook map[string]any
	for _, item := range attributes["w"]["webhooks"].([]any) {
		if item := item.(map[string]any); item["id"] == 7.0 && item["url"] == "https://hooks.example.com/idv" {
			webhook = item
		}
	}
	want := map[string]any{
		"id": 7.0, "url": "https://hooks.example.com/idv", "events": []any{"application.completed"},
	}
	if diff := cmp.Diff(want, webhook); diff != "" {
		t.Errorf("data source (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("Know your customer", attributes["kyc"]["name"]); diff != "" {
		t.Errorf("reference data (-want +got):\n%s", diff)
	}
}

// checkNulls checks that each create has one warning that names what is not stored.
func checkNulls(t *testing.T, warnings []diagnostic) {
	t.Helper()
	nulls := slices.DeleteFunc(slices.Clone(warnings), func(w diagnostic) bool {
		return !strings.Contains(w.Summary, "output has no value")
	})
	if len(nulls) != 2 || !has(nulls, "bearer, hmac, part", "response_pointers") || !has(nulls, "path, url") {
		t.Errorf("want a warning of each subscription that names the nulls, got %+v", nulls)
	}
}

var base64Pattern = regexp.MustCompile(`[A-Za-z0-9+/_-]{16,}={0,2}`)

// mustNotLeak fails the test if a text contains a canary, as it is or in Base64.
func mustNotLeak(t *testing.T, where, text string) {
	t.Helper()
	if at := leakPattern.FindStringIndex(text); at != nil {
		t.Errorf("%s contains a canary: %.300q", where, text[max(0, at[0]-200):])
	}
	for _, encoded := range base64Pattern.FindAllString(text, -1) {
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			if decoded, err := encoding.DecodeString(encoded); err == nil && leakPattern.Match(decoded) {
				t.Errorf("%s contains a canary in Base64: %.300q", where, decoded)
			}
		}
	}
}
