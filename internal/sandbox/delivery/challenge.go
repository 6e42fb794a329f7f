package delivery

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
)

// Challenge asks a target to prove that it wants deliveries: its response to a GET with the query parameter challenge,
// or to a POST of {"validationToken": TEXT}, is a 2xx with the text in it.
func (q *Queue) Challenge(ctx context.Context, target string, post bool) bool {
	text := rand.Text()
	method, body := http.MethodGet, []byte(nil)
	if post {
		method = http.MethodPost
		body, _ = json.Marshal(map[string]string{"validationToken": text})
	}
	r, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return false
	}
	if post {
		r.Header.Set("Content-Type", "application/json")
	} else {
		query := r.URL.Query()
		query.Set("challenge", text)
		r.URL.RawQuery = query.Encode()
	}
	response, err := q.sender.client.Do(r)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	return err == nil && response.StatusCode/100 == 2 && bytes.Contains(answer, []byte(text))
}
