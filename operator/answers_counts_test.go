package operator_test

import (
	"cmp"
	"sync"
	"testing"
)

// actCounts is what came of the cells of one act.
type actCounts struct{ cells, answers, again, done, refused, unknown, emails, twice int }

func (n *actCounts) add(other *actCounts) {
	n.cells += other.cells
	n.answers += other.answers
	n.again += other.again
	n.done += other.done
	n.refused += other.refused
	n.unknown += other.unknown
	n.emails += other.emails
	n.twice += other.twice
}

// matrixCounts are those of all parts of the matrix, which run at the same time.
type matrixCounts struct {
	mu    sync.Mutex
	byAct map[string]*actCounts
}

func (c *matrixCounts) add(part map[string]*actCounts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for act, n := range part {
		c.byAct[act] = cmp.Or(c.byAct[act], &actCounts{})
		c.byAct[act].add(n)
	}
}

// log shows what came of each act so far.
func (c *matrixCounts) log(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, act := range acts {
		if n := c.byAct[act]; n != nil {
			t.Logf("%-13s %4d cells, %5d answers: %4d done, %4d unknown, %4d not done; %4d e-mails, %d again; %d requests again",
				act, n.cells, n.answers, n.done, n.unknown, n.refused, n.emails, n.twice, n.again)
		}
	}
}
