package statedir

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

const logExt = ".jsonl"

// A tap whose log grew past --max-log-size goes on in a next part: beside
// "a.jsonl" lie "a.part2.jsonl", "a.part3.jsonl". A number may be missing, because
// several taps that append to one trace file take the next free one each.
const partMark = ".part"

// partPath returns the path of part n of the log whose first part is first.
func partPath(first string, n int) string {
	ext := filepath.Ext(first)
	if len(ext) == len(filepath.Base(first)) { // ".trace" is all name
		ext = ""
	}
	return fmt.Sprintf("%s%s%d%s", strings.TrimSuffix(first, ext), partMark, n, ext)
}

// splitPart returns the path of the first part of the log that path belongs to,
// and which part path is, from 1.
func splitPart(path string) (first string, n int) {
	ext := filepath.Ext(path)
	if n := partNumber(ext); n > 0 {
		return strings.TrimSuffix(path, ext), n
	}
	stem := strings.TrimSuffix(path, ext)
	mark := filepath.Ext(stem)
	if n := partNumber(mark); n > 0 {
		return strings.TrimSuffix(stem, mark) + ext, n
	}
	return path, 1
}

// partNumber reads ".part2" as 2, and anything else as 0.
func partNumber(ext string) int {
	digits, ok := strings.CutPrefix(ext, partMark)
	if !ok || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" || strings.HasPrefix(digits, "0") {
		return 0
	}
	if n, err := strconv.Atoi(digits); err == nil && n > 1 {
		return n
	}
	return 0
}
