package notification

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
)

// received is a Receiver with what it accepted and observed.
type received struct {
	*Receiver
	api *apiServer

	mu         sync.Mutex // a server calls the receiver from many goroutines
	deliveries []delivery
	results    map[string]int
}

type delivery struct {
	service connection.Key
	body    string
}

func newReceived() *received {
	r := &received{api: newAPIServer(), results: map[string]int{}}
	deliver := func(key connection.Key, _ string, body []byte) string {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.deliveries = append(r.deliveries, delivery{key, string(body)})
		return resultMatched
	}
	count := func(result string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.results[result]++
	}
	r.Receiver = newReceiver(accountsIn(r.api, nil, true), deliver, count)
	return r
}

// newRequest makes one to the receiver.
func newRequest(t *testing.T, method, path string, body io.Reader) *http.Request {
	t.Helper()
	return httptest.NewRequestWithContext(t.Context(), method, path, body)
}

// send sends a delivery.
func (r *received) send(t *testing.T, path, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := newRequest(t, http.MethodPost, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	r.ServeHTTP(recorder, request)
	return recorder
}

func (r *received) wantStatus(t *testing.T, what string, want int, answer *httptest.ResponseRecorder) {
	t.Helper()
	if answer.Code != want {
		t.Errorf("%s: %d, want %d", what, answer.Code, want)
	}
}

const goodPath = "/notifications/team/default/" + goodToken

func TestReceives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		path := testKey.NotificationPath()
		const previous = "previous/previous+previous%previous"
		r.api.connect(testKey, goodToken, previous)
		shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
		shared.Spec.Notifications = &v1alpha1.ClusterNotifications{
			SecretRef: v1alpha1.NamespacedSecretReference{Namespace: "team", Name: "default"},
		}
		shared.Status.Notifications = &v1alpha1.NotificationsStatus{TokenDigests: []string{receiver.Digest(goodToken)}}
		sharedKey := connection.KeyOfService(shared)
		r.api.services[sharedKey] = shared
		for name, c := range map[string]struct {
			path   string
			header []string
			key    connection.Key
		}{
			"a token in the path":           {goodPath, nil, testKey},
			"the previous token":            {path + "/previous%2Fprevious+previous%25previous", nil, testKey},
			"a token in the header":         {path, []string{"Authorization", "Bearer " + goodToken}, testKey},
			"a header in other letters":     {path + "/", []string{"Authorization", "bearer  " + goodToken}, testKey},
			"a ClusterIdentityService":      {"/notifications/-/all/" + goodToken, nil, sharedKey},
			"a query, which says nothing":   {goodPath + "?a=b", nil, testKey},
			"a body that is not compressed": {goodPath, []string{"Content-Encoding", "Identity"}, testKey},
		} {
			r.deliveries = nil
			r.wantStatus(t, name, http.StatusOK, r.send(t, c.path, "4711", c.header...))
			if len(r.deliveries) != 1 || r.deliveries[0].service != c.key || r.deliveries[0].body != "4711" {
				t.Errorf("%s: accepted %+v", name, r.deliveries)
			}
		}
		r.wantStatus(t, "compressed", http.StatusOK, r.send(t, goodPath, "x", "Content-Encoding", "gzip"))
		if last := r.deliveries[len(r.deliveries)-1]; last.body != "" {
			t.Error("a compressed body is read")
		}
	})
}

// Everything that is wrong has the same answer, to the last byte.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		r.api.connect(testKey, goodToken)
		without := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "without"}
		r.api.connect(without)
		former := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "former"}
		r.api.connect(former, goodToken)
		r.api.services[former].(*v1alpha1.IdentityService).Spec.Notifications = nil
		bearer := "Authorization"
		cases := map[string]*http.Request{
			"no token":        newRequest(t, "POST", testKey.NotificationPath(), http.NoBody),
			"a near token":    newRequest(t, "POST", goodPath[:len(goodPath)-1]+"0", http.NoBody),
			"a longer token":  newRequest(t, "POST", goodPath+"0", http.NoBody),
			"a shorter token": newRequest(t, "POST", goodPath[:len(goodPath)-1], http.NoBody),
			"a digest for a token": newRequest(
				t, "POST", testKey.NotificationPath()+"/"+receiver.Digest(goodToken), http.NoBody),
			"no notifications any more": newRequest(t, "POST", former.NotificationPath()+"/"+goodToken, http.NoBody),
			"without a token":           newRequest(t, "POST", without.NotificationPath()+"/"+goodToken, http.NoBody),
			"another service":           newRequest(t, "POST", "/notifications/team/other/"+goodToken, http.NoBody),
			"another namespace":         newRequest(t, "POST", "/notifications/other/default/"+goodToken, http.NoBody),
			"another kind":              newRequest(t, "POST", "/notifications/-/default/"+goodToken, http.NoBody),
			"no namespace":              newRequest(t, "POST", "/notifications//default/"+goodToken, http.NoBody),
			"no name":                   newRequest(t, "POST", "/notifications/team//"+goodToken, http.NoBody),
			"a part too many":           newRequest(t, "POST", goodPath+"/x", http.NoBody),
			"a part too few":            newRequest(t, "POST", "/notifications/team", http.NoBody),
			"another path":              newRequest(t, "POST", "/", http.NoBody),
			"a path with dots":          newRequest(t, "POST", "/notifications/.."+goodPath, http.NoBody),
			"GET":                       newRequest(t, "GET", goodPath, http.NoBody),
			"PUT":                       newRequest(t, "PUT", goodPath, http.NoBody),
			"another scheme":            newRequest(t, "POST", testKey.NotificationPath(), http.NoBody),
			"too large":                 newRequest(t, "POST", goodPath, strings.NewReader(strings.Repeat("x", maxBody+1))),
			"a body that is cut":        newRequest(t, "POST", goodPath, io.MultiReader(strings.NewReader("x"), broken{})),
			"two tokens, one wrong":     newRequest(t, "POST", testKey.NotificationPath()+"/wrong", http.NoBody),
		}
		cases["another scheme"].Header.Set(bearer, "Basic "+goodToken)
		cases["two tokens, one wrong"].Header.Set(bearer, "Bearer "+goodToken)
		r.wantStatus(t, "the token", http.StatusOK, r.send(t, goodPath, ""))
		var want []byte
		for name, request := range cases {
			recorder := httptest.NewRecorder()
			r.ServeHTTP(recorder, request)
			got, err := httputil.DumpResponse(recorder.Result(), true)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(want, got) || recorder.Code != http.StatusNotFound {
				t.Errorf("%s is refused with\n%s\nand not with\n%s", name, got, want)
			}
		}
		if len(r.deliveries) != 1 || r.results[resultRefused] != len(cases) {
			t.Errorf("accepted %d of %d, %v", len(r.deliveries), len(cases), r.results)
		}
		r.wantStatus(t, "as large as can be", http.StatusOK, r.send(t, goodPath, strings.Repeat("x", maxBody)))
	})
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the connection was cut") }

// Whatever is sent to services that do not exist is remembered nowhere.
func TestNothingIsRememberedOfWrongSenders(t *testing.T) {
	r := newReceived()
	for i := range 1000 {
		r.send(t, fmt.Sprintf("/notifications/team/none-%d/%s", i, goodToken), "")
	}
	if r.limiters.cache.Len() != 0 || r.reading.cache.Len() != 0 {
		t.Errorf("%d connections and %d namespaces are remembered", r.limiters.cache.Len(), r.reading.cache.Len())
	}
}

// A token is good while its digest is in the status, and the one from before as well.
func TestRotatedTokens(t *testing.T) {
	r := newReceived()
	const nextToken = "abcdef0123456789abcdef0123456789"
	path := testKey.NotificationPath() + "/"
	r.api.connect(testKey, goodToken)
	r.wantStatus(t, "before", http.StatusOK, r.send(t, goodPath, ""))
	r.wantStatus(t, "the next one", http.StatusNotFound, r.send(t, path+nextToken, ""))
	r.api.connect(testKey, nextToken, goodToken)
	r.wantStatus(t, "the new token", http.StatusOK, r.send(t, path+nextToken, ""))
	r.wantStatus(t, "the previous token", http.StatusOK, r.send(t, goodPath, ""))
	r.api.connect(testKey, nextToken)
	r.wantStatus(t, "a token that is removed", http.StatusNotFound, r.send(t, goodPath, ""))
	r.wantStatus(t, "the token that is left", http.StatusOK, r.send(t, path+nextToken, ""))
	delete(r.api.services, testKey)
	r.wantStatus(t, "without the service", http.StatusNotFound, r.send(t, path+nextToken, ""))
}

// blocked is a body that does not end until it is to.
type blocked chan struct{}

func (b blocked) Read([]byte) (int, error) {
	<-b
	return 0, io.EOF
}

// Deliveries of one namespace that are sent slowly keep none of others out.
func TestNamespacesShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		other := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "other", Name: "default"}
		r.api.connect(other, goodToken)
		slow := make(blocked)
		for i := range 2 { // the rate of one connection is less than what a namespace may have
			key := testKey
			key.Name = fmt.Sprint(i)
			r.api.connect(key, goodToken)
			for range maxReading / 2 {
				go r.ServeHTTP(httptest.NewRecorder(), newRequest(t, "POST", key.NotificationPath()+"/"+goodToken, slow))
			}
		}
		synctest.Wait()
		third := testKey
		third.Name = "third"
		r.api.connect(third, goodToken)
		path := "/notifications/team/third/" + goodToken
		r.wantStatus(t, "one too many", http.StatusTooManyRequests, r.send(t, path, ""))
		r.wantStatus(t, "another namespace", http.StatusOK, r.send(t, other.NotificationPath()+"/"+goodToken, ""))
		close(slow)
		synctest.Wait()
		r.wantStatus(t, "when those before are read", http.StatusOK, r.send(t, path, ""))
	})
}

func TestTooManyDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		r.api.connect(testKey, goodToken)
		for range maxRate {
			r.wantStatus(t, "a delivery", http.StatusOK, r.send(t, goodPath, ""))
		}
		answer := r.send(t, goodPath, "")
		r.wantStatus(t, "too many", http.StatusTooManyRequests, answer)
		if answer.Header().Get("Retry-After") == "" {
			t.Error("the answer does not say when to try again")
		}
		other := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "other", Name: "default"}
		r.api.connect(other, goodToken)
		r.wantStatus(t, "another service", http.StatusOK, r.send(t, other.NotificationPath()+"/"+goodToken, ""))
		<-time.After(time.Minute)
		for range maxRate {
			r.wantStatus(t, "later", http.StatusOK, r.send(t, goodPath, ""))
		}
		r.wantStatus(t, "too many later", http.StatusTooManyRequests, r.send(t, goodPath, ""))
		if r.results[resultLimited] != 2 {
			t.Errorf("the results are %v", r.results)
		}
	})
}
