package benchmark_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// hostileServices are services with one costly kind of answer each. Everything else they answer as usual.
type hostileServices struct {
	*httptest.Server
	services []*hostileService
}

type hostileService struct {
	costly
	sent atomic.Int64 // costly answers

	mu         sync.Mutex
	references []string // of the applications, by their id less one
}

func startHostileServices(tb testing.TB) *hostileServices {
	tb.Helper()
	h, mux := &hostileServices{}, http.NewServeMux()
	for i, answer := range costlyAnswers() {
		s, base := &hostileService{costly: answer}, "/"+strconv.Itoa(i)+"/api/v1/ext"
		mux.HandleFunc("POST "+base+"/authentications/token", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"access_token":"token","expires_in":3600,"token_type":"Bearer"}`)
		})
		mux.HandleFunc("GET "+base+"/references", s.listReferences)
		mux.HandleFunc("POST "+base+"/applications", s.create)
		mux.HandleFunc("GET "+base+"/applications/{id}", s.retrieve)
		mux.HandleFunc("GET "+base+"/individuals/{id}/report", s.report)
		h.services = append(h.services, s)
	}
	h.Server = httptest.NewServer(mux)
	tb.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

func (h *hostileServices) url(i int) string { return h.URL + "/" + strconv.Itoa(i) }

// silent are the services that had no occasion for a costly answer.
func (h *hostileServices) silent() (names []string) {
	for _, s := range h.services {
		if s.sent.Load() == 0 {
			names = append(names, s.name)
		}
	}
	return names
}

func (h *hostileServices) sent() (n int64) {
	for _, s := range h.services {
		n += s.sent.Load()
	}
	return n
}

// answer sends the costly answer if its place is that, and else a usual one.
func (s *hostileService) answer(w http.ResponseWriter, place place, id int, usual string) {
	body := usual
	if s.place == place {
		s.sent.Add(1)
		body = s.body
	}
	s.mu.Lock()
	reference := ""
	if 0 < id && id <= len(s.references) {
		reference = s.references[id-1]
	}
	s.mu.Unlock()
	body = strings.NewReplacer("ID", strconv.Itoa(id), "REFERENCE", reference).Replace(body)
	_, _ = io.WriteString(w, body)
}

func (s *hostileService) listReferences(w http.ResponseWriter, _ *http.Request) {
	s.answer(w, references, 0, kyc+`]}`)
}

func (s *hostileService) create(w http.ResponseWriter, r *http.Request) {
	var body struct{ Reference string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.references = append(s.references, body.Reference)
	id := len(s.references)
	s.mu.Unlock()
	s.answer(w, created, id, shown+`}`)
}

func (s *hostileService) retrieve(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	switch s.place {
	case problem:
		w.WriteHeader(http.StatusConflict)
		s.answer(w, problem, id, "")
	case slowly:
		w.Header().Set("Content-Length", strconv.Itoa(megabyte))
		s.answer(w, slowly, id, "")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	default:
		s.answer(w, application, id, shown+`,"individuals":[`+jane+`}]}`)
	}
}

func (s *hostileService) report(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.PathValue("id"))
	w.Header().Set("Content-Type", "application/json")
	s.answer(w, report, id, `{"report":"none"}`)
}
