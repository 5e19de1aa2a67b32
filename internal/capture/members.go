package capture

import (
	"math"
	"strconv"
	"time"

	"mcpsnoop/internal/jsontree"
)

// memberError says that a member we know holds what it must not.
type memberError struct{ path, want string }

func (e *memberError) Error() string {
	if e.path == "" {
		return "must be " + e.want
	}
	return `member "` + e.path + `" must be ` + e.want
}

// inside says in which member an error lies.
func inside(name []byte, err error) error {
	if e, ok := err.(*memberError); ok {
		if e.path != "" && e.path[0] != '[' {
			e.path = "." + e.path
		}
		e.path = string(name) + e.path
	}
	return err
}

func mustBe(want string) error { return &memberError{want: want} }

type memberFunc = func(name []byte, v jsontree.Node) error

// members calls do for the members of an object. One whose value is null is as
// good as absent.
func members(v jsontree.Node, do memberFunc) error {
	if v.Kind() != jsontree.Object {
		return mustBe("an object")
	}
	for name, value := range v.Members() {
		if value.Kind() == jsontree.Null {
			continue
		}
		if err := do(name.Bytes(), value); err != nil {
			return inside(name.Bytes(), err)
		}
	}
	return nil
}

func elements(v jsontree.Node, do func(jsontree.Node) error) error {
	if v.Kind() != jsontree.Array {
		return mustBe("an array")
	}
	for e := range v.Elements() {
		if err := do(e); err != nil {
			return inside([]byte("[]"), err)
		}
	}
	return nil
}

func stringNode(v jsontree.Node, dst *string) error {
	s, ok := v.Str()
	if !ok {
		return mustBe("a string")
	}
	*dst = s
	return nil
}

func intNode[T int | int64 | uint64](v jsontree.Node, dst *T) error {
	if v.Kind() != jsontree.Number {
		return mustBe("a whole number")
	}
	return integer(v.Text(), dst)
}

// integer reads the text of a JSON number that must be whole and fit.
func integer[T int | int64 | uint64](text []byte, dst *T) (err error) {
	if natural, ok := any(dst).(*uint64); ok {
		*natural, err = strconv.ParseUint(string(text), 10, 64)
	} else {
		var n int64
		n, err = strconv.ParseInt(string(text), 10, 64)
		if *dst = T(n); int64(*dst) != n {
			err = strconv.ErrRange
		}
	}
	if err != nil {
		return mustBe("a whole number in range")
	}
	return nil
}

// micros converts a number of microseconds from a log, which may be anything.
func micros(us int64, dst *time.Duration) error {
	if us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
		return mustBe("a whole number in range")
	}
	*dst = time.Duration(us) * time.Microsecond
	return nil
}
