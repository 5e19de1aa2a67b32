package jsontree

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// asShort is the verdict without any of long.go.
func asShort(text []byte) bool {
	return jsontext.Value(text).IsValid(allowDuplicates) ||
		utf8.Valid(text) && jsontext.Value(text).IsValid(allowDuplicates, allowSurrogates)
}

var longSeeds = []string{
	`""`, `"\u12aF\"\\\/\b\f\n\r\t"`, `"\u12"`, `"\x"`, `"\`, `"`, "\"\x1f\"", "\"\x7f\"", "\"é漢😀\"", "\"\xc1\x80\"",
	"\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe0\x80\x80\"", "\"\xf0\x80\x80\x80\"", "\"\xe6\xbc\"", `"\ud83d"`,
	`{"a":"b","a":["c",{"d":"` + strings.Repeat("plain ", 40) + `"}]}`,
	`{"` + strings.Repeat("k", 100) + `" "` + strings.Repeat("v", 100) + `"}`,
	`[1,2"` + strings.Repeat("x", 100) + `"]`, "\xff", `"a"b"c"`, strings.Repeat("[", 1100) + strings.Repeat("]", 1100),
}

func TestLongAgrees(t *testing.T) {
	for _, seed := range longSeeds {
		for pad := range 17 { // every position within a word
			text := []byte(strings.Repeat(" ", pad) + seed)
			if got, want := validLong(text), asShort(text); got != want {
				t.Errorf("%.80q: valid %v, want %v", text, got, want)
			}
		}
	}
	for c := range 256 { // every byte in every place of a word
		for at := range 16 {
			text := append(bytes.Repeat([]byte("a"), 18), '"')
			text[0], text[at+1] = '"', byte(c)
			if got, want := validLong(text), asShort(text); got != want {
				t.Errorf("%q: valid %v, want %v", text, got, want)
			}
		}
	}
}

func FuzzLong(f *testing.F) {
	for _, seed := range longSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, want := validLong(text), asShort(text); got != want {
			t.Errorf("%q: valid %v, want %v", text, got, want)
		}
	})
}

func BenchmarkCheckLong(b *testing.B) {
	const pieces = `Zürich \u2014 \"12\u00b0\" \\ 3 < 4 & 5 \t Ωμέγα, 東京, 🚲 and so on\n`
	for name, piece := range map[string]string{"plain": "plain words and nothing else ", "mixed": pieces} {
		text := []byte(`{"a":"` + strings.Repeat(piece, 1<<20/len(piece)) + `"}`)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if Check(text) != nil {
					b.Fatal("refused")
				}
			}
		})
		b.Run(name+"/jsontext", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				asShort(text)
			}
		})
	}
}
