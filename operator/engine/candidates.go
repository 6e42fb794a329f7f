package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
	idv "github.com/mandate-io/idv/internal/client"
)

// Candidates are the ids that an annotation names as those of applications that may be a Mandate's: the last ones, each
// once. What is no id is ignored.
func Candidates(mandate client.Object) []int64 {
	return ParseCandidates(mandate.GetAnnotations()[v1alpha1.CandidateAnnotation])
}

// UnknownIDs are those that an annotation of a service names: of applications that may be the ones of Mandates whose
// create had no answer.
func UnknownIDs(service client.Object) []int64 {
	return ParseCandidates(service.GetAnnotations()[v1alpha1.UnknownIDsAnnotation])
}

// ParseCandidates reads the value of either annotation.
func ParseCandidates(named string) (ids []int64) {
	if named == "" {
		return nil
	}
	for text := range strings.SplitSeq(named, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err == nil && id > 0 && id <= v1alpha1.MaxID && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > v1alpha1.MaxCandidates {
			ids = ids[1:]
		}
	}
	return ids
}

// FormatCandidates is the value of either annotation.
func FormatCandidates(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}

// IsConnectionError reports whether the error of a read says nothing about the application: none could be read.
func IsConnectionError(ctx context.Context, err error) bool {
	e, ok := errors.AsType[*idv.Error](err)
	return !ok || e.Login || ctx.Err() != nil ||
		slices.Contains([]idv.Kind{idv.KindUnreachable, idv.KindRateLimited, idv.KindCanceled}, e.Kind)
}
