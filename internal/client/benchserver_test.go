package client

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// benchServer runs in a process of its own, so that only callers are measured.
type benchServer struct {
	url string
	ca  []byte
}

const benchServerVariable = "BENCHMARK_SERVER"

func startBenchServer(b *testing.B, scheme string) benchServer {
	b.Helper()
	command := exec.CommandContext(b.Context(), os.Args[0])
	command.Env = append(os.Environ(), benchServerVariable+"="+scheme)
	command.Stderr = os.Stderr
	_, errIn := command.StdinPipe() // it ends when this closes, whatever becomes of us
	output, errOut := command.StdoutPipe()
	if errIn != nil || errOut != nil {
		b.Fatal(errIn, errOut)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	var said struct {
		URL string
		CA  []byte
	}
	if err := json.NewDecoder(output).Decode(&said); err != nil {
		b.Fatal(err)
	}
	return benchServer{said.URL, said.CA}
}

// serveBenchmark is the server, with an answer as the interface shows it: three individuals with three checks each.
func serveBenchmark(scheme string) {
	check := `{"id":77,"status":{"id":4,"status":"manually_accepted"},"name":"liveness","title":"Liveness",
		"individual_checkfield_result":[{"id":1,"individual":12,"check_field":3,"result":"ok","status":1}],
		"instance":{"a":"b"}}`
	individual := `{"id":12,"email":"jane@example.com","title":"","first_name":"Jane","middle_name":"","last_name":"Doe",
	"date_of_birth":"1980-02-29","gender":"",
		"reference":"A-1.jane","status":{"id":2,"status":"invited"},"terms_accepted":true,"address":{"id":1,"individual":12,
		"flat_appartment_subbuilding":"",
		"building_number":"1","building_name":"","road_street":"High Street","district":"","town_city":"Ghent",
		"state_province_name":"","state_province_code":"",
		"country_code":"BE","post_zip_code":"9000","date_from":"2001-01-01","date_to":""},"completed_actions":[{"id":5,
		"name":"selfie","title":"Take a selfie"}],
		"checks_in_review":1,"checks_in_pending":1,"checks_passed":1,"checks":[` + strings.Repeat(check+",", 2) + check + `]}`
	created := `{"id":4711,"name":"Acme","reference":"A-1","mandate_type":{"id":3,"name":"KYC","code":"kyc",
	"description":"Know your customer"},
		"status":{"id":1,"status":"in review"},"archived":false,"available_actions":[{"id":9,"name":"upload",
		"title":"Upload a document"}]}`
	retrieved := strings.TrimSuffix(created, "}") + `,"individuals":[` + strings.Repeat(individual+",", 2) + individual +
		`]}`
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.URL.Path == tokenPath:
			answers(http.StatusOK, `{"access_token":"token","expires_in":3600,"token_type":"Bearer"}`)(w, r)
		case r.Method == http.MethodPost:
			answers(http.StatusOK, created)(w, r)
		default:
			answers(http.StatusOK, retrieved)(w, r)
		}
	}))
	server.EnableHTTP2 = true
	var ca []byte
	if scheme == "https" {
		server.StartTLS()
		ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	} else {
		server.Start()
	}
	defer server.Close()
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"URL": server.URL, "CA": ca})
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func (s benchServer) client(b *testing.B) *Client {
	b.Helper()
	c, err := New(Config{
		BaseURL: s.url, CABundle: s.ca, Credentials: Credentials{Username: "user", Password: Hide("password")},
		RequestsPerSecond: -1,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}
