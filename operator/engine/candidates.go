package engine

import (
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mandate-io/idv/api/v1alpha1"
)

// Candidates are the ids that an annotation names as those of applications that may be a Mandate's: the last ones, each
// once. What is no id is ignored.
func Candidates(mandate client.Object) []int64 {
	return ParseCandidates(mandate.GetAnnotations()[v1alpha1.CandidateAnnotation])
}

// ParseCandidates reads the value of the annotation.
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

// FormatCandidates is the value of the annotation.
func FormatCandidates(ids []int64) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(texts, ",")
}
