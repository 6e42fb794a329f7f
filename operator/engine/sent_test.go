package engine

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"

	idv "github.com/mandate-io/idv/internal/client"
)

// The log says no more than the answer proves: what the service accepts is not carried out yet.
func TestLogAnswer(t *testing.T) {
	t.Parallel()
	lost := &idv.Error{Operation: idv.OpArchiveApplication, Kind: idv.KindConnection}
	for name, test := range map[string]struct {
		outcome idv.Outcome
		err     error
		want    string
	}{
		"done":               {idv.Done, nil, "The service carried out the request"},
		"accepted":           {idv.Accepted, nil, "The service accepted the request, and carries it out later"},
		"accepted, no id":    {idv.Accepted, lost, "The service accepted the request, and carries it out later"},
		"refused":            {idv.Refused, lost, "The request did nothing"},
		"lost":               {idv.Unknown, lost, "The service may or may not have carried out the request"},
		"somebody's id":      {idv.Candidate, lost, "The service may or may not have carried out the request"},
		"not sent":           {idv.NotSent, lost, "The request did nothing"},
		"may not be allowed": {idv.Forbidden, lost, "The request did nothing"},
	} {
		var logged string
		logger := funcr.New(func(_, text string) { logged += text }, funcr.Options{})
		LogAnswer(logger, test.outcome, test.err)
		if !strings.Contains(logged, `"msg"="`+test.want+`"`) || strings.Contains(logged, `"error"=`) != (test.err != nil) {
			t.Errorf("%s: %s", name, logged)
		}
	}
}
