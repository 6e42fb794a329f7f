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

// canaries fills a JSON template: every %s becomes a word that stands for something about a person.
func canaries(template string) string {
	n := strings.Count(template, "%s")
	words := make([]any, n)
	for i := range n {
		words[i] = fmt.Sprintf("canary-person-%d", i)
	}
	return fmt.Sprintf(template, words...)
}

var (
	canaryIndividual = canaries(`{"id":4712,"reference":"%s","email":"%s","title":"%s","first_name":"%s","middle_name":"%s","last_name":"%s",
		"date_of_birth":"%s","gender":"%s","status":{"id":1,"status":"invited"},"terms_accepted":true,"completed_actions":[],
		"address":{"id":1,"individual":4712,"flat_appartment_subbuilding":"%s","building_number":"%s","building_name":"%s","road_street":"%s",
			"district":"%s","town_city":"%s","state_province_name":"%s","state_province_code":"%s","country_code":"%s","post_zip_code":"%s",
			"date_from":"%s","date_to":"%s"},
		"checks":[{"id":1,"name":"document","title":"Document","status":{"id":1,"status":"pending"},
			"individual_checkfield_result":[{"id":1,"individual":4712,"check_field":1,"result":"%s","status":1}],"instance":{"number":"%s"}}],
		"unknown":"%s"}`)
	canaryApplication = `{"id":4711,"name":"canary-person-name","reference":"canary-person-reference","status":{"id":1,"status":"in review"},
		"mandate_type":{"id":17,"name":"KYC","code":"kyc","description":""},"archived":false,"available_actions":[],"unknown":"canary-person-unknown",
		"individuals":[` + canaryIndividual + `]}`
	canaryWebhook = `{"url":"https://hooks.example.com/idv","individual_reference":"canary-person-flat","last_delivery":{"individuals":[` + canaryIndividual + `],"individual":` + canaryIndividual + `}}`
	canaryProblem = `{"type":"","title":"canary-person-title","status":"400","detail":"canary-person-detail","instance":"/canary-person-instance",
		"exception":{"email":["canary-person-message"],"canary-person-field":["x"],"individuals":[{"reference":["canary-person-message"]}]}}`
	canaryReport = "%PDF-1.4 canary-person-report"
)

// people answers every read with canaries, or with refusals full of them.
func people(refuse *atomic.Bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case refuse.Load():
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

const readsPeople = `
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
  on_existing     = "adopt"
  deletion_policy = "ABANDON"
}
resource "terraform_data" "consumer" {
  input = data.idv_webhook.w.json
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

// What a run about people leaves behind and prints holds nothing about them, however much it logs.
func TestPeopleStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	var refuse atomic.Bool
	url := newStub(t, people(&refuse))
	onEachCLI(t, func(t *testing.T, c cli) {
		refuse.Store(false)
		given, log := filepath.Join(t.TempDir(), "given"), filepath.Join(t.TempDir(), "trace.log")
		w := c.workspace(t, "IDV_BASE_URL="+url, "IDV_USERNAME=u", "IDV_PASSWORD=canary-password", "OUT="+given, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
		w.configure(t, readsPeople)
		said := map[string]string{}
		said["plan"] = w.must(t, "plan", "-out=tfplan").output
		said["plan in JSON"] = w.must(t, "show", "-json", "tfplan").output
		said["apply"] = w.must(t, "apply", "tfplan").output
		said["empty plan"] = w.mustPlanNothing(t).output
		said["state in JSON"] = w.must(t, "show", "-json").output
		said["state"] = w.state(t)
		said["plan file"] = unzipped(t, filepath.Join(w.dir, "tfplan"))
		said["destroy"] = w.must(t, "destroy", "-auto-approve").output
		said["backup"] = read(t, filepath.Join(w.dir, "terraform.tfstate.backup"))
		for _, want := range []string{"canary-person-0", "canary-person-21", "canary-person-name", "canary-person-report", "canary-access-token"} {
			if !strings.Contains(read(t, given), want) {
				t.Errorf("%s was not given to who asked for it, so that the rest proves nothing", want)
			}
		}

		refuse.Store(true)
		refused := w.run(t, "plan")
		if refused.exit == 0 || !has(refused.errors, "Cannot read the application") || !has(refused.errors, "Cannot download the report") {
			t.Errorf("want errors about what was refused, got %+v", refused.errors)
		}
		said["refused plan"] = refused.output
		said["trace"] = read(t, log)
		if !strings.Contains(said["trace"], "request to the identity verification service") || !strings.Contains(said["trace"], "[TRACE]") {
			t.Error("the log has no traces, or not those of the provider, so that it proves nothing")
		}
		for where, text := range said {
			if before, after, found := strings.Cut(text, "canary"); found {
				t.Errorf("%s holds personal data or a secret: %.200q", where, before[max(0, len(before)-200):]+"canary"+after)
			}
		}
	})
}

// unzipped is what is in a plan file.
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
