package tracectx

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const (
	trace  = "5b8efff798038103d269b633813fc60c"
	parent = "eee19b7ec3c1b174"
	good   = "00-" + trace + "-" + parent + "-01"
)

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct{ in, wrong string }{
		"version 00":                          {good, ""},
		"not sampled":                         {good[:54] + "0", ""},
		"all flags":                           {good[:53] + "ff", ""},
		"version ff":                          {"ff" + good[2:], "version ff"},
		"later version":                       {"01" + good[2:], ""},
		"version fe":                          {"fe" + good[2:], ""},
		"version 01 with extra after hyphen":  {"01" + good[2:] + "-xx", ""},
		"version 01 with a hyphen only":       {"01" + good[2:] + "-", ""},
		"version 01 with extra, no hyphen":    {"01" + good[2:] + "xx", "without a hyphen"},
		"version of upper-case hex":           {"0A" + good[2:], "begin with a version"},
		"version that is no hex":              {"0x" + good[2:], "begin with a version"},
		"upper-case trace id":                 {"00-" + strings.ToUpper(trace) + good[35:], "trace id that is not"},
		"upper-case parent id":                {good[:36] + strings.ToUpper(parent) + "-01", "parent id that is not"},
		"upper-case flags":                    {good[:53] + "0A", "flags"},
		"zero trace id":                       {"00-" + strings.Repeat("0", 32) + good[35:], "trace id of zeros"},
		"zero parent id":                      {good[:36] + strings.Repeat("0", 16) + "-01", "parent id of zeros"},
		"54 characters":                       {good[:54], "54 characters"},
		"56 characters of version 00":         {good + "0", "after the flags, for 1 characters"},
		"more fields of version 00":           {good + "-xx", "after the flags"},
		"54 characters of a later version":    {"01" + good[2:54], "54 characters"},
		"other separators":                    {strings.ReplaceAll(good, "-", "_"), "joined by hyphens"},
		"space around":                        {" " + good, "begin with a version"},
		"nothing":                             {"", "begin with a version"},
		"one character":                       {"0", "begin with a version"},
		"fields of other lengths, 55 in all":  {"00-" + trace + "0-" + parent[1:] + "-01", "joined by hyphens"},
		"flags behind a shifted last hyphen":  {good[:52] + "0-1", "joined by hyphens"},
		"parent id behind a shifted hyphen":   {good[:35] + "0-" + parent[1:] + "-01", "joined by hyphens"},
		"text that is not ASCII, 55 in bytes": {"00-" + strings.Repeat("ö", 16) + good[35:], "trace id that is not"},
	} {
		c, err := Parse([]byte(tt.in))
		if tt.wrong == "" {
			if err != nil || c.Trace.String() != trace || c.Parent.String() != parent {
				t.Errorf("%s: %v %v", name, c, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.wrong) || c != (Context{}) {
			t.Errorf("%s: %v, %v; want %q", name, c, err, tt.wrong)
		}
	}
}

func TestFlagsAndVersion(t *testing.T) {
	for flags, sampled := range map[string]bool{"00": false, "01": true, "02": false, "03": true, "fe": false, "ff": true} {
		c, err := Parse([]byte("cc" + good[2:53] + flags + "-more"))
		if err != nil || c.Sampled() != sampled || c.Version != 0xcc || fmt.Sprintf("%02x", c.Flags) != flags {
			t.Errorf("flags %s: %+v, %v", flags, c, err)
		}
	}
}

// members makes a tracestate of n members.
func members(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("k%d=v", i)
	}
	return strings.Join(list, ",")
}

func TestParseState(t *testing.T) {
	long := strings.Repeat("a", 256)
	for name, tt := range map[string]struct {
		in    string
		n     int
		wrong string
	}{
		"one":                   {"rojo=00f067aa0ba902b7", 1, ""},
		"two":                   {"rojo=1,congo=t61", 2, ""},
		"32 members":            {members(32), 32, ""},
		"33 members":            {members(33), 0, "more than 32"},
		"32 and empty ones":     {"," + members(32) + ", ,", 32, ""},
		"duplicate key":         {"a=1,b=2,a=3", 0, `"a" twice`},
		"empty member":          {"a=1,,b=2", 2, ""},
		"tab around commas":     {"a=1\t,\tb=2", 2, ""},
		"value ending in space": {"a=1 ", 1, ""},
		"space in a value":      {"a=1 2,b= 3", 2, ""},
		"tab in a value":        {"a=1\t2", 0, "value"},
		"equals sign in value":  {"a=1=2", 0, "value"},
		"no value":              {"a=", 0, "value"},
		"value of 256":          {"a=" + long, 1, ""},
		"value of 257":          {"a=a" + long, 0, "value"},
		"value not ASCII":       {"a=é", 0, "value"},
		"no equals sign":        {"a", 0, "without an equals sign"},
		"no key":                {"=1", 0, "key"},
		"key of 256":            {long + "=1", 1, ""},
		"key of 257":            {"a" + long + "=1", 0, "key"},
		"key with a digit":      {"0a=1", 1, ""},
		"key of a tenant":       {"fw529a3039@dt=1", 1, ""},
		"key of all characters": {"a0_-*/@=1", 1, ""},
		"key of upper case":     {"A=1", 0, "key"},
		"key of an underscore":  {"_a=1", 0, "key"},
		"space before equals":   {"a =1", 0, "key"},
		"nothing":               {"", 0, ""},
	} {
		list, err := ParseState([]byte(tt.in))
		if len(list) != tt.n || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, %v; want %d, %q", name, list, err, tt.n, tt.wrong)
		}
	}
	list, _ := ParseState([]byte(" b=2 ,\ta= 1"))
	if want := []Member{{"b", "2"}, {"a", " 1"}}; !reflect.DeepEqual(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
}

func TestCheckBaggage(t *testing.T) {
	for in, wrong := range map[string]string{
		"":                               "",
		"user=alice":                     "",
		"a=1,b=2":                        "",
		" a = 1 ;p;q=2 , ,b=%20":         "",
		"a=":                             "",
		"a=b=c":                          "",
		"a":                              "without an equals sign",
		"a;p=1":                          "without an equals sign",
		"=1":                             "no token",
		"a b=1":                          "no token",
		"a=1;":                           "no token",
		"a=1 2":                          "percent-encoded",
		"a=é":                            "percent-encoded",
		`a="1"`:                          "percent-encoded",
		"a=1;p=x y":                      "percent-encoded",
		"A!#$%&'*+-.^_`|~9=" + "!#:<~[]": "",
	} {
		err := CheckBaggage([]byte(in))
		if (err == nil) != (wrong == "") || err != nil && !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v, want %q", in, err, wrong)
		}
	}
}

// FuzzParse: whatever is accepted reads the same when it is written again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good), []byte("a=1,b=2"))
	f.Add([]byte("01"+good[2:]+"-xx"), []byte(" ,a@b= 1\t"))
	f.Add([]byte(good[:54]), []byte(members(33)))
	f.Fuzz(func(t *testing.T, traceparent, tracestate []byte) {
		if c, err := Parse(traceparent); err == nil {
			again := fmt.Sprintf("%02x-%v-%v-%02x", c.Version, c.Trace, c.Parent, c.Flags)
			if !bytes.HasPrefix(traceparent, []byte(again)) {
				t.Fatalf("%q became %q", traceparent, again)
			}
		} else if c != (Context{}) || err.Error() == "" {
			t.Fatalf("%v %v", c, err)
		}
		if state, err := ParseState(tracestate); err == nil {
			var text []string
			for _, m := range state {
				text = append(text, m.Key+"="+m.Value)
			}
			if second, err := ParseState([]byte(strings.Join(text, ","))); err != nil || !reflect.DeepEqual(second, state) {
				t.Fatalf("%q became %q, %v", state, second, err)
			}
		} else if state != nil || err.Error() == "" {
			t.Fatalf("%v %v", state, err)
		}
		_ = CheckBaggage(tracestate)
	})
}
