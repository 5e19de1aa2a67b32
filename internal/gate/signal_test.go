package gate

import (
	"strings"
	"testing"

	"mcpsnoop/internal/session"
)

func TestParseFailOn(t *testing.T) {
	for list, want := range map[string]Set{
		"error":                       SetOf(Error),
		" Late-Result , ERROR,error ": SetOf(Error, LateResult),
		"incomplete,pending,invalid":  SetOf(Invalid, Pending, Incomplete),
	} {
		if got, err := ParseFailOn(list); err != nil || got != want {
			t.Errorf("ParseFailOn(%q) = %v, %v, want %v", list, got, err, want)
		}
	}
	for list, want := range map[string]string{
		"":            `empty signal in "": name one or more of error, invalid, warn, mismatch, pending, late-result, incomplete, should`,
		"error,":      `empty signal in "error,": name one or more of error, invalid, warn, mismatch, pending, late-result, incomplete, should`,
		"error,Errs":  `unknown signal "Errs": name one or more of error, invalid, warn, mismatch, pending, late-result, incomplete, should`,
		"late_result": `unknown signal "late_result": name one or more of error, invalid, warn, mismatch, pending, late-result, incomplete, should`,
		"error,drift": `signal "drift" is not judged by this build: it judges error, invalid, warn, mismatch, pending, late-result, incomplete, should`,
	} {
		_, err := ParseFailOn(list)
		if err == nil || err.Error() != want {
			t.Errorf("ParseFailOn(%q): %v, want %s", list, err, want)
		}
	}
}

func TestOrderIsFixed(t *testing.T) {
	if got := SetOf(Incomplete, Error, Output, Pending).String(); got != "error,pending,incomplete,output" {
		t.Errorf("got %s", got)
	}
	all := Set(1<<signals - 1)
	const want = "error,invalid,warn,mismatch,pending,late-result,drift,deprecated,incomplete,schema,should,args,output"
	if got := all.String(); got != want {
		t.Errorf("got %s", got)
	}
	if Default()&^Judged() != 0 || Default() == 0 {
		t.Errorf("default %v is not all judged", Default())
	}
}

func TestTripped(t *testing.T) {
	n := CountsOf(&session.Counts{Errors: 2, Pending: 1, Missing: 1, Torn: 1, Unreadable: 1})
	if n[Incomplete] != 3 {
		t.Errorf("incomplete = %d", n[Incomplete])
	}
	if got := n.Tripped(SetOf(Invalid, Pending, Error)).String(); got != "error,pending" {
		t.Errorf("tripped %s", got)
	}
	if got := n.Tripped(SetOf(Invalid)); got != 0 {
		t.Errorf("tripped %v", got)
	}
	sum := n
	sum.Add(n)
	if sum[Error] != 4 {
		t.Errorf("sum %v", sum)
	}
	if !strings.Contains(Signal(99).String(), "99") {
		t.Error("a signal of no name hides its number")
	}
}
