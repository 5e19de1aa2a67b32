package statedir

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel is the longest label in bytes: an id and its endings stay below the
// 255 bytes that file systems allow a name.
const maxLabel = 200

const randomLen = 12 // hex digits at the end of an id

// NewID returns an id that no other tap has: <label>-<pid>-<12 hex>. The label
// must be valid.
func NewID(label string, pid int) string {
	var b [randomLen / 2]byte
	rand.Read(b[:]) // never fails
	return fmt.Sprintf("%s-%d-%s", label, pid, hex.EncodeToString(b[:]))
}

// ParseID takes an id apart. What it accepts is safe as the name of a file.
func ParseID(id string) (label string, pid int, ok bool) {
	rest, random, ok := cutLast(id, '-')
	if !ok || len(random) != randomLen || strings.Trim(random, "0123456789abcdef") != "" {
		return "", 0, false
	}
	label, digits, ok := cutLast(rest, '-')
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return "", 0, false
	}
	pid, err := strconv.Atoi(digits)
	if err != nil || ValidateLabel(label) != nil {
		return "", 0, false
	}
	return label, pid, true
}

func cutLast(s string, sep byte) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// ValidateLabel says why a label cannot be one: labels are parts of file names and
// stand in terminals.
func ValidateLabel(label string) error {
	switch {
	case label == "":
		return errors.New("label is empty")
	case len(label) > maxLabel:
		return fmt.Errorf("label has %d bytes, more than %d", len(label), maxLabel)
	case label[0] == '-':
		return fmt.Errorf("label %q begins with -", label)
	case !utf8.ValidString(label):
		return fmt.Errorf("label %q is not UTF-8", label)
	}
	for _, r := range label {
		if !labelRune(r) {
			return fmt.Errorf("label %q contains %q", label, r)
		}
	}
	return nil
}

func labelRune(r rune) bool {
	if r == '/' || r == '\\' || unicode.IsControl(r) {
		return false
	}
	return runtime.GOOS != "windows" || !strings.ContainsRune(`<>:"|?*`, r)
}

// CleanLabel makes a valid label of any text: what a label may not hold becomes
// "_", and what is left of nothing is "server".
func CleanLabel(text string) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !labelRune(r) {
			return '_'
		}
		return r
	}, text)
	text = strings.TrimSpace(strings.TrimLeft(text, "-"))
	if len(text) > maxLabel {
		end := maxLabel
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	if ValidateLabel(text) != nil {
		return "server"
	}
	return text
}

var launchers = []string{
	"npx", "npm", "pnpm", "yarn", "bunx", "bun", "node", "deno", "python",
	"python3", "uv", "uvx", "pipx", "sh", "bash", "env", "go",
}

// DeriveLabel names a server after its command line: the first word that looks
// like a server, else the first that is no launcher and no flag, else the command
// itself; of that word what follows the last slash. The label is always valid.
//
// Of env's assignments, a URL's query and its userinfo nothing gets into the label: they hold
// secrets.
func DeriveLabel(argv []string) string {
	var words []string
	env := false
	for _, word := range argv {
		name := strings.ToLower(baseName(word))
		for _, ext := range []string{".exe", ".cmd", ".bat"} {
			name = strings.TrimSuffix(name, ext)
		}
		switch {
		case word == "" || word[0] == '-' || word == "run" || word == "exec":
		case len(words) == 0 && slices.Contains(launchers, name):
			env = env || name == "env"
		case len(words) == 0 && env && isAssignment(word):
		default:
			words = append(words, word)
		}
	}
	if i := slices.IndexFunc(words, looksLikeServer); i >= 0 {
		return CleanLabel(baseName(words[i]))
	}
	if len(words) > 0 {
		return CleanLabel(baseName(words[0]))
	}
	if len(argv) > 0 {
		return CleanLabel(baseName(argv[0]))
	}
	return CleanLabel("")
}

func looksLikeServer(word string) bool {
	if strings.Contains(word, "server") || strings.Contains(word, "mcp") || strings.HasPrefix(word, "@") {
		return true
	}
	return slices.Contains([]string{".js", ".ts", ".py"}, filepath.Ext(word))
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, `/\ `)
}

// baseName returns what follows the last slash of either kind.
func baseName(word string) string {
	if scheme, rest, ok := strings.Cut(word, "://"); ok {
		if i := strings.IndexAny(rest, "?#"); i >= 0 {
			rest = rest[:i]
		}
		host, path, _ := strings.Cut(rest, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		word = scheme + "://" + host + "/" + path
	}
	word = strings.TrimRight(word, `/\`)
	return word[strings.LastIndexAny(word, `/\`)+1:]
}
