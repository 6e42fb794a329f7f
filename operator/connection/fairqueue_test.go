package connection

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// A namespace with many waiters is served as often as one with few, and each namespace in the order in which they came.
func TestQueueServesNamespacesRoundRobin(t *testing.T) {
	t.Parallel()
	var queue fairQueue
	for i, namespace := range []string{"a", "a", "a", "a", "b", "b", "c"} {
		object := types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}
		queue.push(&waiter{object: object, class: Read, state: waiting})
	}
	var served []string
	for {
		w := queue.pop(map[Class]bool{Read: true}, func(*waiter) bool { return true })
		if w == nil {
			break
		}
		served = append(served, w.object.String())
	}
	if want := []string{"a/0", "b/4", "c/6", "a/1", "b/5", "a/2", "a/3"}; !slices.Equal(served, want) {
		t.Errorf("served %q, want %q", served, want)
	}
}
