package state

// table has the objects of one kind by their ids, and remembers the ids of those that are gone.
type table[T any] struct {
	live map[int64]T
	gone map[int64]bool
}

func newTable[T any]() table[T] { return table[T]{live: map[int64]T{}, gone: map[int64]bool{}} }

func (t *table[T]) add(id int64, object T) { t.live[id] = object }

func (t *table[T]) remove(id int64) {
	delete(t.live, id)
	t.gone[id] = true
}

// find returns ErrGone for what was removed, and ErrNotFound for what never existed.
func (t *table[T]) find(id int64) (T, error) {
	object, ok := t.live[id]
	switch {
	case ok:
		return object, nil
	case t.gone[id]:
		return object, ErrGone
	default:
		return object, ErrNotFound
	}
}
