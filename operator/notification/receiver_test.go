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
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	"github.com/mandate-io/idv/internal/receiver"
	"github.com/mandate-io/idv/operator/connection"
)

// received is a Receiver with what it accepted and observed.
type received struct {
	*Receiver
	api        *apiServer
	deliveries []delivery
	mu         sync.Mutex
	results    map[string]int
	full       bool
}

func newReceived() *received {
	r := &received{api: newAPIServer(), results: map[string]int{}}
	accept := func(d delivery) bool {
		r.deliveries = append(r.deliveries, d)
		return !r.full
	}
	tokens := newTokenSource(r.api, r.api, true, clock.RealClock{})
	r.Receiver = newReceiver(tokens, accept, func(result string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.results[result]++
	})
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
		r.api.connect(testKey, goodToken+"\n", previous)
		shared := &v1alpha1.ClusterIdentityService{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
		shared.Spec.Notifications = &v1alpha1.ClusterNotifications{
			SecretRef: v1alpha1.NamespacedSecretReference{Namespace: "team", Name: "default"},
		}
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
			if len(r.deliveries) != 1 || r.deliveries[0].service != c.key || string(r.deliveries[0].body) != "4711" {
				t.Errorf("%s: accepted %+v", name, r.deliveries)
			}
		}
		r.wantStatus(t, "compressed", http.StatusOK, r.send(t, goodPath, "x", "Content-Encoding", "gzip"))
		if last := r.deliveries[len(r.deliveries)-1]; len(last.body) > 0 {
			t.Error("a compressed body is read")
		}
		if r.api.reads != 2 {
			t.Errorf("%d reads of two Secrets", r.api.reads)
		}
	})
}

// Everything that is wrong has the same answer, to the last byte, and takes the same time.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		r.api.connect(testKey, goodToken)
		without := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "without"}
		r.api.connect(without)
		longBytes := strings.Repeat("ü", receiver.MinTokenLength-1)
		short := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "other", Name: "short"}
		r.api.connect(short, "short", longBytes)
		spaced := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "other", Name: "spaced"}
		r.api.connect(spaced, goodToken+" "+goodToken)
		bearer := "Authorization"
		cases := map[string]*http.Request{
			"no token":             newRequest(t, "POST", testKey.NotificationPath(), http.NoBody),
			"a near token":         newRequest(t, "POST", goodPath[:len(goodPath)-1]+"0", http.NoBody),
			"a longer token":       newRequest(t, "POST", goodPath+"0", http.NoBody),
			"a shorter token":      newRequest(t, "POST", goodPath[:len(goodPath)-1], http.NoBody),
			"a short token":        newRequest(t, "POST", short.NotificationPath()+"/short", http.NoBody),
			"short, long in bytes": newRequest(t, "POST", receiver.URL("", short.NotificationPath(), longBytes), http.NoBody),
			"white space": newRequest(
				t, "POST", receiver.URL("", spaced.NotificationPath(), goodToken+" "+goodToken), http.NoBody),
			"without a token":       newRequest(t, "POST", without.NotificationPath()+"/"+goodToken, http.NoBody),
			"another service":       newRequest(t, "POST", "/notifications/team/other/"+goodToken, http.NoBody),
			"another namespace":     newRequest(t, "POST", "/notifications/other/default/"+goodToken, http.NoBody),
			"another kind":          newRequest(t, "POST", "/notifications/-/default/"+goodToken, http.NoBody),
			"no namespace":          newRequest(t, "POST", "/notifications//default/"+goodToken, http.NoBody),
			"no name":               newRequest(t, "POST", "/notifications/team//"+goodToken, http.NoBody),
			"a part too many":       newRequest(t, "POST", goodPath+"/x", http.NoBody),
			"a part too few":        newRequest(t, "POST", "/notifications/team", http.NoBody),
			"another path":          newRequest(t, "POST", "/", http.NoBody),
			"a path with dots":      newRequest(t, "POST", "/notifications/.."+goodPath, http.NoBody),
			"an escaped slash":      newRequest(t, "POST", "/notifications/team%2Fdefault/"+goodToken, http.NoBody),
			"GET":                   newRequest(t, "GET", goodPath, http.NoBody),
			"PUT":                   newRequest(t, "PUT", goodPath, http.NoBody),
			"another scheme":        newRequest(t, "POST", testKey.NotificationPath(), http.NoBody),
			"too large":             newRequest(t, "POST", goodPath, strings.NewReader(strings.Repeat("x", maxBody+1))),
			"a body that is cut":    newRequest(t, "POST", goodPath, io.MultiReader(strings.NewReader("x"), broken{})),
			"two tokens, one wrong": newRequest(t, "POST", testKey.NotificationPath()+"/wrong", http.NoBody),
		}
		cases["another scheme"].Header.Set(bearer, "Basic "+goodToken)
		cases["two tokens, one wrong"].Header.Set(bearer, "Bearer "+goodToken)
		r.wantStatus(t, "the token", http.StatusOK, r.send(t, goodPath, ""))
		r.api.slow = refusalDelay / 2
		var want []byte
		for name, request := range cases {
			started, recorder := time.Now(), httptest.NewRecorder()
			r.ServeHTTP(recorder, request)
			if took := time.Since(started); took != refusalDelay {
				t.Errorf("%s takes %s", name, took)
			}
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

// While too many are refused, a sender without a good token gets the same answer at once, whether there is a service
// and whether its Secret has been read. Good deliveries are taken.
func TestTooManyRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		r.api.connect(testKey, goodToken)
		r.wantStatus(t, "the first", http.StatusOK, r.send(t, goodPath, ""))
		<-time.After(2 * tokenTTL) // so it is to be read again
		unread := connection.Key{Kind: v1alpha1.ServiceKindIdentityService, Namespace: "team", Name: "unread"}
		r.api.connect(unread, goodToken)
		r.api.slow = refusalDelay / 2
		for i := range maxWaiting {
			go r.send(t, fmt.Sprintf("/notifications/team/none-%d/%s", i, goodToken), "")
		}
		synctest.Wait()
		started := time.Now()
		var want []byte
		for name, path := range map[string]string{
			"a wrong token": goodPath + "0", "no service": "/notifications/team/none/" + goodToken,
			"a service that is not read": unread.NotificationPath() + "/" + goodToken, "another path": "/",
			"a wrong token of it": unread.NotificationPath() + "/" + goodToken + "0",
		} {
			got, err := httputil.DumpResponse(r.send(t, path, "").Result(), true)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(want, got) || !bytes.Contains(got, []byte("429 Too Many")) {
				t.Errorf("%s is refused with\n%s\nand not with\n%s", name, got, want)
			}
		}
		r.wantStatus(t, "a good token", http.StatusOK, r.send(t, goodPath, ""))
		if took := time.Since(started); took != 0 || r.api.count(&r.api.reads) != 1 {
			t.Errorf("the answers took %s, and waited for %d reads", took, r.api.count(&r.api.reads)-1)
		}
		<-time.After(r.api.slow)
		synctest.Wait()
		path := unread.NotificationPath() + "/" + goodToken
		r.wantStatus(t, "a service that is read now", http.StatusOK, r.send(t, path, ""))
		<-time.After(refusalDelay)
		synctest.Wait()
		if len(r.waiting) != 0 || r.results[resultRefused] != maxWaiting || r.results[resultLimited] != 5 {
			t.Errorf("%d wait after the last one, and the results are %v", len(r.waiting), r.results)
		}
	})
}

// Digests are compared, and nothing else is remembered: tokens that are almost the same have nothing in common then, so
// the time of a comparison says nothing about a token, however it compares.
func TestTokensAreComparedByDigest(t *testing.T) {
	r := newReceived()
	r.api.connect(testKey, goodToken)
	r.send(t, goodPath, "")
	known := r.tokens.cached(testKey)
	if text := fmt.Sprintf("%+v", known); known == nil || strings.Contains(text, goodToken) {
		t.Fatalf("the token is remembered as it is: %s", text)
	}
	near := digest(goodToken[:len(goodToken)-1] + "0")
	same := 0
	for i, b := range known.digests[0] {
		if b == near[i] {
			same++
		}
	}
	if same > len(near)/4 || bytes.Contains(known.digests[0][:], []byte(goodToken[:4])) {
		t.Errorf("what is compared of two tokens that differ at the end has %d of %d bytes in common", same, len(near))
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the connection was cut") }

// A Secret is read for a service that exists, every half minute, and every five seconds while wrong tokens are sent:
// whatever is sent to others costs no request.
func TestTokensAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		for i := range 1000 {
			r.send(t, fmt.Sprintf("/notifications/team/none-%d/%s", i, goodToken), "")
		}
		if r.api.reads != 0 || r.tokens.entries.Len() != 0 {
			t.Errorf("%d reads and %d entries for services that do not exist", r.api.reads, r.tokens.entries.Len())
		}
		r.api.connect(testKey)
		for range 100 { // which takes ten seconds
			r.send(t, goodPath, "")
		}
		if r.api.reads != 3 {
			t.Errorf("%d reads of a Secret without tokens", r.api.reads)
		}
		<-time.After(tokenTTL)
		r.api.connect(testKey, goodToken)
		r.wantStatus(t, "a new token", http.StatusOK, r.send(t, goodPath, ""))
		r.api.fails = errors.New("it is away")
		<-time.After(tokenTTL)
		r.wantStatus(t, "while the API server is away", http.StatusOK, r.send(t, goodPath, ""))
		r.api.fails = nil
		r.api.connect(testKey, strings.Repeat("x", receiver.MinTokenLength))
		<-time.After(tokenRetryInterval)
		r.wantStatus(t, "an old token", http.StatusNotFound, r.send(t, goodPath, ""))
		delete(r.api.services, testKey)
		<-time.After(tokenTTL)
		r.wantStatus(t, "without the service", http.StatusNotFound, r.send(t, goodPath, ""))
		if r.tokens.entries.Len() != 0 {
			t.Error("the tokens of a service that is gone are remembered")
		}
	})
}

const (
	nextToken  = "abcdef0123456789abcdef0123456789"
	wrongToken = goodToken + "0"
)

// A token is good as soon as it is in the Secret, whenever that was read: the service may verify the URL of a
// subscription that it gets at once. The tokens of before stay good while they are there.
func TestRotatedTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		path := testKey.NotificationPath() + "/"
		r.api.connect(testKey, goodToken)
		r.wantStatus(t, "before", http.StatusOK, r.send(t, goodPath, ""))
		<-time.After(time.Second)
		r.api.connect(testKey, nextToken, goodToken)
		r.wantStatus(t, "the new token", http.StatusOK, r.send(t, path+nextToken, ""))
		r.wantStatus(t, "the previous token", http.StatusOK, r.send(t, goodPath, ""))
		<-time.After(time.Minute)
		r.wantStatus(t, "the previous token later", http.StatusOK, r.send(t, goodPath, ""))
		r.api.connect(testKey, nextToken)
		<-time.After(tokenTTL)
		r.wantStatus(t, "a token that is removed", http.StatusNotFound, r.send(t, goodPath, ""))
		r.wantStatus(t, "the token that is left", http.StatusOK, r.send(t, path+nextToken, ""))
	})
}

// A Secret that is deleted and created again is noticed by the next delivery.
func TestSecretIsCreatedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReceived()
		r.api.connect(testKey, goodToken)
		r.wantStatus(t, "before", http.StatusOK, r.send(t, goodPath, ""))
		delete(r.api.secrets, client.ObjectKey{Namespace: testKey.Namespace, Name: testKey.Name})
		<-time.After(tokenTTL)
		r.wantStatus(t, "without the Secret", http.StatusNotFound, r.send(t, goodPath, ""))
		r.api.connect(testKey, goodToken)
		r.wantStatus(t, "with the Secret", http.StatusOK, r.send(t, goodPath, ""))
	})
}

// Senders of wrong tokens cause one read of a Secret in five seconds. So a new token is good within that time, also
// while so many are refused that no answer waits for a read.
func TestWrongTokensCauseFewReads(t *testing.T) {
	for name, senders := range map[string]int{"one": 1, "more than may wait": 2 * maxWaiting} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const lasts = time.Minute
				r := newReceived()
				path := testKey.NotificationPath() + "/"
				r.api.connect(testKey, goodToken)
				r.api.slow = refusalDelay / 2
				r.wantStatus(t, "before", http.StatusOK, r.send(t, goodPath, ""))
				started := time.Now()
				for range senders {
					go func() {
						for time.Since(started) < lasts {
							r.send(t, path+wrongToken, "")
							<-time.After(refusalDelay / 2)
						}
					}()
				}
				<-time.After(lasts * 2 / 3)
				r.api.connect(testKey, nextToken, goodToken)
				<-time.After(tokenRetryInterval + r.api.slow)
				r.wantStatus(t, "the new token", http.StatusOK, r.send(t, path+nextToken, ""))
				<-time.After(lasts)
				if got, most := r.api.count(&r.api.reads), 2+int(lasts/tokenRetryInterval); got > most {
					t.Errorf("%d reads, want %d at most", got, most)
				}
			})
		})
	}
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
		<-time.After(tokenTTL)
		for range maxRate {
			r.wantStatus(t, "later", http.StatusOK, r.send(t, goodPath, ""))
		}
		r.wantStatus(t, "too many later", http.StatusTooManyRequests, r.send(t, goodPath, ""))
		r.full = true
		r.wantStatus(t, "a full queue", http.StatusTooManyRequests, r.send(t, other.NotificationPath()+"/"+goodToken, ""))
		if r.results[resultLimited] != 3 {
			t.Errorf("the results are %v", r.results)
		}
	})
}
