package checks

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a value that is no plain header text is wrapped in.
const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// sentinel returns what an encoded header value holds, still encoded.
func sentinel(value string) (payload string, ok bool) {
	if len(value) < len(sentinelStart)+len(sentinelEnd) || !strings.HasPrefix(value, sentinelStart) || !strings.HasSuffix(value, sentinelEnd) {
		return "", false
	}
	return value[len(sentinelStart) : len(value)-len(sentinelEnd)], true
}

// miscased reports whether a value would be encoded if case did not matter.
func miscased(value string) bool {
	n := len(sentinelStart)
	return len(value) >= n+len(sentinelEnd) && strings.HasSuffix(value, sentinelEnd) &&
		value[:n] != sentinelStart && strings.EqualFold(value[:n], sentinelStart)
}

// headerSafe reports whether text can stand in a header as it is.
func headerSafe(text string) bool {
	for i := range len(text) {
		if c := text[i]; c != '\t' && (c < 0x20 || c > 0x7e) {
			return false
		}
	}
	return strings.Trim(text, " \t") == text
}

// fit is how a header compares with the value of the body that it repeats.
type fit uint8

const (
	fitAsIs     fit = iota // word by word
	fitDecoded             // once decoded
	fitNumber              // as a number only
	fitRaw                 // word by word, but it looks encoded and is not
	fitMisspelt            // it would be, were it encoded as one has to
	fitDiffers
	fitAbsent   // it should be there
	fitNeedless // there is nothing to repeat
	fitNone     // nor is a header there
)

// fits compares a header with the text that it should carry.
func fits(value string, body []byte) fit {
	payload, encoded := sentinel(value)
	switch {
	case value == string(body) && encoded:
		return fitRaw
	case value == string(body):
		return fitAsIs
	case encoded && decodes(payload, body):
		return fitDecoded
	case !encoded && misspells(value, body):
		return fitMisspelt
	}
	return fitDiffers
}

func decodes(payload string, body []byte) bool {
	text, err := base64.StdEncoding.DecodeString(payload)
	return err == nil && utf8.Valid(text) && bytes.Equal(text, body)
}

// misspells reports whether a value other than the body's is an attempt to encode: it
// has the marks in other case, or only the first and the body behind it.
func misspells(value string, body []byte) bool {
	if miscased(value) {
		return true
	}
	n := len(sentinelStart)
	return len(value) > n && strings.EqualFold(value[:n], sentinelStart) && decodes(strings.TrimRight(value[n:], "?"), body)
}

// fitsNumber compares a header with an integer.
func fitsNumber(value string, n int64) fit {
	var buf [20]byte
	how := fits(value, strconv.AppendInt(buf[:0], n, 10))
	if how == fitDiffers && sameNumber(value, n) {
		return fitNumber
	}
	return how
}

// maxSafe is the greatest integer that every number format of the protocol's peers holds.
const maxSafe = 1<<53 - 1

func sameNumber(value string, n int64) bool {
	if value == "" || strings.Trim(value, "0123456789+-.eE") != "" {
		return false
	}
	if n < -maxSafe || n > maxSafe {
		m, err := strconv.ParseInt(value, 10, 64)
		return err == nil && m == n
	}
	f, err := strconv.ParseFloat(value, 64)
	return err == nil && f == float64(n)
}
