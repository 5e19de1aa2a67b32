package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NotFoundError says that a session argument names no log.
type NotFoundError struct {
	Arg  string   // as given, "" if the newest was asked for
	File bool     // Arg can only have meant a file
	Dir  string   // where logs were looked for
	Near []string // arguments like it that would have named one, best first
}

func (e *NotFoundError) Error() string {
	switch {
	case e.File:
		return fmt.Sprintf("no file %q", e.Arg)
	case e.Arg == "":
		return fmt.Sprintf("no session in %q", e.Dir)
	}
	return fmt.Sprintf("no session %q: it is no path of a file, and no log in %q has it as its id, a beginning of its id, or its label", e.Arg, e.Dir)
}

// Hint says which argument may have been meant, "" if nothing is near.
func (e *NotFoundError) Hint() string {
	quoted := make([]string, len(e.Near))
	for i, near := range e.Near {
		quoted[i] = fmt.Sprintf("%q", near)
	}
	switch len(quoted) {
	case 0:
		return ""
	case 1:
		return "did you mean " + quoted[0] + "?"
	}
	return "did you mean one of " + strings.Join(quoted, ", ") + "?"
}

// AmbiguousError says that an argument begins the ids of several logs.
type AmbiguousError struct {
	Arg        string
	Candidates []string // ids, last written first
}

func (e *AmbiguousError) Error() string {
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "session %q is ambiguous, %d ids begin so: ", e.Arg, len(e.Candidates))
	for i, id := range e.Candidates[:min(most, len(e.Candidates))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", id)
	}
	if len(e.Candidates) > most {
		b.WriteString(", …")
	}
	return b.String()
}

// Resolve returns the log that a session argument names: an existing path, else
// an id or the beginning of just one, else a label, which names its log written
// last. No argument names the log written last of all. The note, if any, is to be
// said to whoever gave the argument. The error is a *NotFoundError or an
// *AmbiguousError if the argument is what is wrong.
func (d Dir) Resolve(arg string) (log Entry, note string, err error) {
	pathLike := arg != "" && looksLikePath(arg)
	if arg != "" {
		info, err := os.Stat(arg)
		switch {
		case err == nil && (pathLike || !info.IsDir()):
			log, err = At(arg)
			return log, "", err
		case err != nil && pathLike && !errors.Is(err, fs.ErrNotExist):
			return Entry{}, "", fmt.Errorf("open log %w", pathCause(err))
		}
	}
	listing, err := d.List()
	if err != nil {
		return Entry{}, "", err
	}
	switch {
	case pathLike:
		return Entry{}, "", &NotFoundError{Arg: arg, File: true, Dir: d.Sessions(), Near: listing.nearFile(arg)}
	case arg == "" && len(listing.Logs) > 0:
		return listing.Logs[0], "", nil
	case arg == "":
		return Entry{}, "", &NotFoundError{Dir: d.Sessions()}
	}
	return listing.find(arg, d.Sessions())
}

// looksLikePath reports whether an argument that names no file was meant to.
func looksLikePath(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == logExt || slices.Contains(packedExts, ext) ||
		strings.ContainsRune(arg, '/') || strings.ContainsRune(arg, filepath.Separator)
}

func (l *Listing) find(arg, dir string) (Entry, string, error) {
	var begins, labelled []Entry
	for _, e := range l.Logs {
		if e.ID == arg {
			return e, "", nil
		}
		if strings.HasPrefix(e.ID, arg) {
			begins = append(begins, e)
		}
		if e.Label == arg {
			labelled = append(labelled, e)
		}
	}
	switch {
	case len(begins) == 1:
		return begins[0], "", nil
	case len(labelled) == 1:
		return labelled[0], "", nil
	case len(labelled) > 1:
		return labelled[0], fmt.Sprintf("%q names %d sessions, taking the newest: %q", arg, len(labelled), labelled[0].ID), nil
	case len(begins) > 1:
		ids := make([]string, len(begins))
		for i, e := range begins {
			ids[i] = e.ID
		}
		return Entry{}, "", &AmbiguousError{arg, ids}
	}
	return Entry{}, "", &NotFoundError{Arg: arg, Dir: dir, Near: l.near(arg)}
}

// nearFile returns the id of the log whose file name arg ends in.
func (l *Listing) nearFile(arg string) []string {
	for _, e := range l.Logs {
		for _, path := range e.Paths {
			if filepath.Base(path) == filepath.Base(arg) {
				return []string{e.ID}
			}
		}
	}
	return nil
}
