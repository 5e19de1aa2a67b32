package session

// chunkLen is how many items a chunk of a vector holds.
const chunkLen = 128

// vector is an append-only list whose items may change, and of which a frozen copy
// costs nothing: freeze begins a new epoch, and the first change to a chunk that is
// older than the epoch copies that chunk. Appending copies nothing, because a frozen
// copy ends before what is appended.
type vector[T any] struct {
	chunks []*[chunkLen]T
	epochs []uint32 // when chunks[i] was made or copied
	spine  uint32   // when chunks itself was
	epoch  uint32
	n      int
	frozen int // items that the last frozen copy holds
}

func (v *vector[T]) add(item T) {
	if v.n%chunkLen == 0 {
		v.chunks = append(v.chunks, new([chunkLen]T))
		v.epochs = append(v.epochs, v.epoch)
	}
	v.chunks[v.n/chunkLen][v.n%chunkLen] = item
	v.n++
}

// at returns an item to read.
func (v *vector[T]) at(i int) *T { return &v.chunks[i/chunkLen][i%chunkLen] }

// edit returns an item to change.
func (v *vector[T]) edit(i int) *T {
	c := i / chunkLen
	if i < v.frozen && v.epochs[c] != v.epoch {
		if v.spine != v.epoch {
			v.chunks = append(make([]*[chunkLen]T, 0, cap(v.chunks)), v.chunks...)
			v.spine = v.epoch
		}
		fresh := *v.chunks[c]
		v.chunks[c] = &fresh
		v.epochs[c] = v.epoch
	}
	return &v.chunks[c][i%chunkLen]
}

// freeze returns a copy that nothing done to v later changes.
func (v *vector[T]) freeze() frozen[T] {
	v.epoch++
	v.frozen = v.n
	return frozen[T]{v.chunks[:len(v.chunks):len(v.chunks)], v.n}
}

// frozen is a vector as it stood at one moment.
type frozen[T any] struct {
	chunks []*[chunkLen]T
	n      int
}

func (f *frozen[T]) at(i int) *T {
	if uint(i) >= uint(f.n) {
		panic("session: index beyond the list")
	}
	return &f.chunks[i/chunkLen][i%chunkLen]
}
