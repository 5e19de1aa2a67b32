package session

// bounded is a map that forgets what was put first when there is too much in it.
type bounded[V any] struct {
	m     map[uint64]V
	order []uint64 // keys, oldest first, as a ring from next on once it is full
	next  int
}

func (b *bounded[V]) get(key uint64) V { return b.m[key] }

func (b *bounded[V]) put(key uint64, v V, most int) {
	if b.m == nil {
		b.m = make(map[uint64]V)
	}
	if _, known := b.m[key]; !known {
		if len(b.order) < most {
			b.order = append(b.order, key)
		} else {
			delete(b.m, b.order[b.next])
			b.order[b.next] = key
			b.next = (b.next + 1) % most
		}
	}
	b.m[key] = v
}
