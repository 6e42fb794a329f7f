package provider_test

import (
	"archive/zip"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// canaries fills a JSON template: every %s becomes a word that takes the place of personal data.
func canaries(template string) string {
	n := strings.Count(template, "%s")
	words := make([]any, n)
	for i := range n {
		words[i] = fmt.Sprintf("canary-person-%d", i)
	}
	return fmt.Sprintf(template, words...)
}

var (
	canaryIndividual = canaries(`{"id":4712,"reference":"%s","email":"%s","title":"%s",
		"first_name":"%s","middle_name":"%s","last_name":"%s",
		"date_of_birth":"%s","gender":"%s","status":{"id":1,"status":"invited"},"terms_accepted":true,"completed_actions":[],
		"address":{"id":1,"individual":4712,"flat_appartment_subbuilding":"%s",
			"building_number":"%s","building_name":"%s","road_street":"%s",
			"district":"%s","town_city":"%s","state_province_name":"%s","state_province_code":"%s",
			"country_code":"%s","post_zip_code":"%s",
			"date_from":"%s","date_to":"%s"},
		"checks":[{"id":1,"name":"document","title":"Document","status":{"id":1,"status":"pending"},
			"individual_checkfield_result":[{"id":1,"individual":4712,"check_field":1,"result":"%s","status":1}],
			"instance":{"number":"%s"}}],
		"unknown":"%s"}`)
	canaryApplication = `{"id":4711,"name":"canary-person-name","reference":"canary-person-reference",
		"status":{"id":1,"status":"in review"},
		"mandate_type":{"id":17,"name":"KYC","code":"kyc","description":""},"archived":false,"available_actions":[],
		"unknown":"canary-person-unknown",
		"individuals":[` + canaryIndividual + `]}`
	canaryWebhook = `{"url":"https://hooks.example.com/idv","individual_reference":"canary-person-flat",
		"last_delivery":{"individuals":[` + canaryIndividual + `],"individual":` + canaryIndividual + `}}`
	canaryProblem = `{"type":"","title":"canary-person-title","status":"400","detail":"canary-person-detail",
		"instance":"/canary-person-instance",
		"exception":{"email":["canary-person-message"],"canary-person-field":["x"],
			"individuals":[{"reference":["canary-person-message"]}]}}`
	// Errors show the texts about references, which are about no person, unless they repeat a secret.
	rejectedReferences = `{"type":"","title":"No reference data today","status":"400","detail":"for canary-password",
		"instance":"/canary-person-instance","exception":{"canary-person-field":["canary-person-message"]}}`
	canaryReport = "%PDF-1.4 canary-person-report"
)

// servePersonalData answers every read with canaries, or with rejections that contain them.
func servePersonalData(reject *atomic.Bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case reject.Load() && strings.HasSuffix(path, "/references"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, rejectedReferences)
		case reject.Load():
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, canaryProblem)
		case strings.HasSuffix(path, "/report"):
			w.Header().Set("Content-Type", `application/pdf; name="canary-person-file"`)
			fmt.Fprint(w, canaryReport)
		case strings.Contains(path, "/individuals/"):
			fmt.Fprint(w, canaryIndividual)
		case strings.Contains(path, "/applications/"):
			fmt.Fprint(w, canaryApplication)
		case strings.Contains(path, "/webhooks/"):
			fmt.Fprint(w, canaryWebhook)
		default:
			fmt.Fprint(w, `{}`)
		}
	}
}

const peopleConfig = `
ephemeral "idv_access_token" "t" {}
ephemeral "idv_application" "a" { application_id = 4711 }
ephemeral "idv_individual" "i" { individual_id = ephemeral.idv_application.a.individuals[0].id }
ephemeral "idv_individual_report" "r" { individual_id = 4712 }
data "idv_webhook" "w" { application_id = 4711 }
data "idv_references" "all" {}
resource "idv_webhook_subscription" "created" {
  url             = "https://hooks.example.com/idv"
  deletion_policy = "ABANDON"
}
resource "idv_webhook_subscription" "adopted" {
  url             = "https://hooks.example.com/idv"
  application_id  = 4711
  deletion_policy = "ABANDON"
}
import {
  to = idv_webhook_subscription.adopted
  id = "4711/https://hooks.example.com/idv"
}
resource "terraform_data" "consumer" {
  input = data.idv_webhook.w.webhooks
  provisioner "local-exec" {
    command = "printf '%s %s %s %s' \"$APPLICATION\" \"$INDIVIDUAL\" \"$REPORT\" \"$TOKEN\" >\"$OUT\""
    environment = {
      APPLICATION = ephemeral.idv_application.a.json
      INDIVIDUAL  = jsonencode(ephemeral.idv_individual.i)
      REPORT      = base64decode(ephemeral.idv_individual_report.r.content_base64)
      TOKEN       = ephemeral.idv_access_token.t.token
    }
  }
}
`

// A run about people stores, prints and logs no personal data, even at level TRACE.
func TestPeopleStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	var reject atomic.Bool
	url := newStubServer(t, servePersonalData(&reject))
	onEachCLI(t, func(t *testing.T, c cli) {
		reject.Store(false)
		given, log := filepath.Join(t.TempDir(), "given"), filepath.Join(t.TempDir(), "trace.log")
		w := c.workspace(t, "IDV_BASE_URL="+url, "IDV_USERNAME=u", "IDV_PASSWORD=canary-password",
			"OUT="+given, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
		w.configure(t, peopleConfig)
		outputs := map[string]string{}
		outputs["plan"] = w.must(t, "plan", "-out=tfplan").output
		outputs["plan in JSON"] = w.must(t, "show", "-json", "tfplan").output
		outputs["apply"] = w.must(t, "apply", "tfplan").output
		outputs["empty plan"] = w.mustPlanNothing(t).output
		outputs["state in JSON"] = w.must(t, "show", "-json").output
		outputs["state"] = w.state(t)
		outputs["plan file"] = unzipped(t, filepath.Join(w.dir, "tfplan"))
		outputs["destroy"] = w.must(t, "destroy", "-auto-approve").output
		outputs["backup"] = read(t, filepath.Join(w.dir, "terraform.tfstate.backup"))
		for _, want := range []string{
			"canary-person-0", "canary-person-21", "canary-person-name", "canary-person-report", "canary-access-token",
		} {
			if !strings.Contains(read(t, given), want) {
				t.Errorf("the provisioner did not get %s, so the test proves nothing", want)
			}
		}

		reject.Store(true)
		rejected := w.run(t, "plan")
		if rejected.exit == 0 || !has(rejected.errors, "Cannot read the application") ||
			!has(rejected.errors, "Cannot download the report") {
			t.Errorf("want errors about the rejected requests, got %+v", rejected.errors)
		}
		if !strings.Contains(rejected.output, "Message of the service: No reference data today") {
			t.Errorf("want the title of the refusal of the references, got %+v", rejected.errors)
		}
		outputs["rejected plan"] = rejected.output
		outputs["trace"] = read(t, log)
		if !containsAll(outputs["trace"], []string{"Request to the identity verification service", "[TRACE]"}) {
			t.Error("the log has no traces, or none of the provider, so the test proves nothing")
		}
		for where, text := range outputs {
			if before, after, found := strings.Cut(text, "canary"); found {
				t.Errorf("%s contains personal data or a secret: %.200q", where, before[max(0, len(before)-200):]+"canary"+after)
			}
		}
	})
}

// unzipped returns the content of a plan file.
func unzipped(t *testing.T, path string) string {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var all strings.Builder
	for _, file := range archive.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(&all, content); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}
