package capture

// The words of members with few values, by what they stand for.
var (
	directionWords = [...]string{C2S: "c2s", S2C: "s2c", Stderr: "stderr", Meta: "meta"}
	transportWords = [...]string{Stdio: "stdio", HTTP: "http"}
	kindWords      = [...]string{
		Start: "start", HTTPHead: "http", Open: "open", Close: "close", Gap: "gap", Clock: "clock", End: "end", Other: "other",
	}
	eolWords = [...]string{CRLF: "crlf", NoEOL: "none"}
)

// String returns the word that the log has for a direction.
func (d Dir) String() string { return word(directionWords[:], d) }

// String returns the word that the log has for a transport.
func (t Transport) String() string { return word(transportWords[:], t) }

// String returns the word that the log has for a kind, "" for Line, which has none.
func (k Kind) String() string { return word(kindWords[:], k) }

func word[T ~uint8](words []string, i T) string {
	if int(i) < len(words) {
		return words[i]
	}
	return ""
}
