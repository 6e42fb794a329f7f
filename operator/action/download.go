package action

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
	"github.com/mandate-io/idv/operator/apierror"
	"github.com/mandate-io/idv/operator/engine"
)

// Keys of the Secret that holds a report.
const (
	keyReport      = "report"
	keyContentType = "content_type"
)

// maxAnswer is more than a Secret holds: in JSON, the file takes a third more.
const maxAnswer = corev1.MaxSecretSize*4/3 + 64<<10

// reportInterval is how soon a report is asked for again that the service is making.
const reportInterval = time.Minute

// download gets the report. It changes nothing at the service and is repeated as often as it takes.
func (r *reconciliation) download(ctx context.Context) error {
	downloaded, err := r.client.IndividualReport(ctx, r.facts.mandate.individual, maxAnswer)
	report := &r.facts.report
	switch {
	case err == nil:
		r.downloaded = downloaded
		r.report, report.isURL = readReport(downloaded.ContentType, downloaded.Content)
		report.tooLarge = len(r.report.content)+len(r.report.contentType) > corev1.MaxSecretSize
		report.downloaded = true
	case idv.KindOf(err) == idv.KindTooLarge:
		report.tooLarge = true
	case idv.KindOf(err) == idv.KindNotReady:
		r.facts.failureReason = v1alpha1.ReasonReportNotReady
		r.facts.retryAfter = cmp.Or(idv.RetryAfterOf(err), reportInterval)
	case idv.IsForbidden(err):
		report.forbidden = true
		log.FromContext(ctx).Info("The service does not let this user download the report", "error", err.Error())
	case idv.IsRefusal(err):
		report.refused = true
		r.localState.Update(r.action, func(s *localState) { s.refusedDigest = r.statusDigest })
		log.FromContext(ctx).Info("The service refused the report or has none", "error", err.Error())
	default:
		r.requestFailed(ctx, err)
	}
	return nil
}

// lookForSecret reads who owns the Secret, and not what is in it.
func (r *reconciliation) lookForSecret(ctx context.Context) error {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	name := types.NamespacedName{Namespace: r.action.Namespace, Name: r.action.Spec.ReportSecretRef.Name}
	err := r.config.Live.Get(ctx, name, secret)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	r.facts.secret = secretFacts{checked: true, exists: err == nil, mine: metav1.IsControlledBy(secret, r.action)}
	r.localState.Update(r.action, func(s *localState) { s.noSecret = err != nil })
	return nil
}

// checkAccess asks whether the operator may create Secrets in the namespace. Without config/reports, it may not.
func (r *reconciliation) checkAccess(ctx context.Context) error {
	allowed, err := engine.IsAllowed(ctx, r.config.Writer, authorizationv1.ResourceAttributes{
		Namespace: r.action.Namespace, Verb: "create", Resource: "secrets",
	})
	if err != nil {
		return err
	}
	r.facts.storing.checked, r.facts.storing.denied = true, !allowed
	r.localState.Update(r.action, func(s *localState) { s.mayStore = allowed })
	return nil
}

// store creates the Secret. To create is all that the operator may do to Secrets: what is there is never written over.
func (r *reconciliation) store(ctx context.Context) error {
	owner := metav1.NewControllerRef(r.action, v1alpha1.SchemeGroupVersion.WithKind("MandateAction"))
	owner.BlockOwnerDeletion = nil // to set it takes a permission on the owner's finalizers
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       r.action.Namespace,
			Name:            r.action.Spec.ReportSecretRef.Name,
			OwnerReferences: []metav1.OwnerReference{*owner},
		},
		Data: map[string][]byte{keyReport: r.report.content, keyContentType: []byte(r.report.contentType)},
	}
	err := r.config.Writer.Create(ctx, secret)
	switch {
	case err == nil:
		log.FromContext(ctx).Info("Stored the report", "applicationID", r.facts.mandate.application)
		r.facts.secret = secretFacts{checked: true, exists: true, mine: true}
	case apierrors.IsAlreadyExists(err):
		r.facts.secret = secretFacts{} // by whom?
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err),
		apierrors.IsRequestEntityTooLargeError(err):
		r.facts.storing = storingFacts{refused: true} // by RBAC?
		log.FromContext(ctx).Info("Failed to create the Secret for the report", "error", apierror.Redact(err).Error())
	default:
		return err
	}
	return nil
}

// file is a report as it is stored.
type file struct {
	contentType string // as the service calls it, or as the content looks; may be empty
	content     []byte
}

// readReport makes a file of the service's answer. Its format is not documented; what is read here are our readings:
//
//   - bytes are the file;
//   - JSON in which one text is a file in base64, wherever it is: that file;
//   - JSON without lists in which one text is a URL: that is where a file would be. It is not followed: an attacker who
//     makes the service name a URL could make the operator, which runs inside the cluster, request it;
//   - other JSON is the report itself, and stays as it is.
func readReport(contentType string, body []byte) (report file, isURL bool) {
	report = file{contentType: contentType, content: body}
	if !mayBeJSON(contentType) || !json.Valid(body) {
		return report, false
	}
	var found texts
	found.collect(json.NewDecoder(bytes.NewReader(body)))
	switch {
	case len(found.files) == 1:
		return found.files[0], false
	case len(found.files) == 0 && found.urls == 1 && !found.list:
		return file{}, true
	default:
		return report, false
	}
}

func mayBeJSON(contentType string) bool {
	return contentType == "" || contentType == "text/plain" || contentType == "application/octet-stream" ||
		contentType == "application/json" || strings.HasSuffix(contentType, "+json")
}

// texts is what the texts in an answer are.
type texts struct {
	files []file
	urls  int
	list  bool
}

// collect reads the next value of valid JSON, token by token: decoded as a whole, it could take a hundred times its
// size.
func (t *texts) collect(decoder *json.Decoder) {
	token, _ := decoder.Token()
	switch v := token.(type) {
	case string:
		t.read(v)
	case json.Delim:
		for decoder.More() {
			if v == '[' {
				t.list = true
			} else {
				_, _ = decoder.Token() // the name of a member
			}
			t.collect(decoder)
		}
		_, _ = decoder.Token() // the end
	}
}

func (t *texts) read(text string) {
	if decoded, ok := decodeFile(text); ok {
		t.files = append(t.files, decoded)
		return
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
		t.urls++
	}
}

// decodeFile decodes base64 in any of its variants. Many a word is base64 by accident: only what looks like a file is
// one.
func decodeFile(text string) (file, bool) {
	if data, ok := strings.CutPrefix(text, "data:"); ok {
		_, text, _ = strings.Cut(data, ",")
	}
	text = strings.NewReplacer("\n", "", "\r", "", "-", "+", "_", "/", "=", "").Replace(text)
	decoded, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return file{}, false
	}
	contentType, _, err := mime.ParseMediaType(http.DetectContentType(decoded))
	if err != nil || slices.Contains([]string{"text/plain", "application/octet-stream"}, contentType) {
		return file{}, false
	}
	return file{contentType: contentType, content: decoded}, true
}
