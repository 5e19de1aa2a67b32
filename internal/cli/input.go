package cli

import (
	"errors"
	"fmt"
	"os"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/capture/foreign"
	"mcpsnoop/internal/statedir"
	"mcpsnoop/internal/term"
	"mcpsnoop/internal/view"
)

// input is one log to read, with what is known of it from outside.
type input struct {
	*capture.Log
	paths []string       // none for stdin
	entry statedir.Entry // the log they are, as it was before it was opened
	live  bool           // somebody is writing it
	pick  pick           // which of its sessions were asked for
	size  int64          // of all files as they lie there, 0 for stdin
	read  int64
	bar   *term.Progress

	logs []opened // of a run, one behind the other
}

// open opens what a session argument names: "-" is stdin, "" the newest session,
// else a path, an id, the beginning of one, or a label. again says that the
// command reads it more than once. The input must be closed.
func (a *app) open(arg string, again bool) (*input, error) {
	o := capture.Options{Again: again, Decoder: foreign.NewDecoder}
	in := &input{bar: term.NewProgress(a.env.Stderr, a.env.Getenv)}
	if arg == "-" {
		in.Log = capture.OpenStream(o, "stdin", a.env.Stdin)
		return in, nil
	}
	entry, pick, err := a.resolve(arg)
	if err != nil {
		return nil, err
	}
	if in.Log, err = capture.OpenLog(o, entry.Paths...); err != nil {
		return nil, unreadable(err)
	}
	state, _ := entry.State()
	in.entry, in.paths, in.size, in.live, in.pick = entry, entry.Paths, entry.Size, state == statedir.Live, pick
	return in, nil
}

// Next reads the next frame and shows on a terminal how far reading has come.
func (in *input) Next(f *capture.Frame) (capture.Ref, error) {
	ref, err := in.Log.Next(f)
	in.read += int64(ref.Len)
	in.bar.Show(func() string {
		if in.size == 0 {
			return "reading " + view.Size(in.read)
		}
		return fmt.Sprintf("reading %s of %s", view.Size(in.read), view.Size(in.size))
	})
	return ref, err
}

// name is what errors call the input.
func (in *input) name() string {
	if len(in.paths) == 0 {
		return "stdin"
	}
	return in.paths[0]
}

func (in *input) Close() error {
	in.bar.Clear()
	return in.Log.Close()
}

// resolve finds the log that a session argument names, and which of its sessions.
func (a *app) resolve(arg string) (statedir.Entry, pick, error) {
	dir, err := a.state()
	if err != nil {
		return statedir.Entry{}, 0, err
	}
	var missing *statedir.NotFoundError
	var which pick
	entry, note, err := dir.Resolve(arg)
	if rest, p, ok := splitPick(arg); ok && errors.As(err, &missing) {
		if e, n, found := dir.Resolve(rest); !errors.As(found, &missing) {
			entry, note, err, which = e, n, found, p
		}
	}
	if errors.As(err, &missing) && !missing.File {
		if e, p, ok := a.holding(dir, arg); ok {
			entry, err, which = e, nil, p
			note = fmt.Sprintf("session %q is in log %q", arg, e.ID)
		}
	}
	entry, err = a.resolved(arg, entry, note, err)
	return entry, which, err
}

// resolved says what is to be said of where an argument led.
func (a *app) resolved(arg string, entry statedir.Entry, note string, err error) (statedir.Entry, error) {
	var missing *statedir.NotFoundError
	var ambiguous *statedir.AmbiguousError
	switch {
	case errors.As(err, &missing):
		hint := missing.Hint()
		if hint == "" {
			hint = "mcpsnoop sessions lists what is recorded"
		}
		if arg == "" {
			hint = "record one: mcpsnoop -- COMMAND, or try mcpsnoop demo"
		}
		return entry, &exitError{exitUsage, err, hint}
	case errors.As(err, &ambiguous):
		return entry, &exitError{exitUsage, err, "give more of the id"}
	case errors.Is(err, os.ErrNotExist):
		return entry, &exitError{exitUsage, err, ""}
	case err != nil:
		return entry, unreadable(err)
	}
	if note != "" {
		a.note("%s", note)
	}
	return entry, nil
}

// unreadable gives errors of opening their exit code: what holds nothing leaves
// nothing to judge, what is no capture at all cannot be read.
func unreadable(err error) error {
	switch {
	case errors.Is(err, capture.ErrEmpty):
		return &exitError{exitUsage, err, ""}
	case errors.Is(err, capture.ErrNoCapture):
		return &exitError{exitUnreadable, err, "a capture is JSON Lines as mcpsnoop or mcp-conformance write it, plain, .gz or .zst"}
	}
	return &exitError{exitUnreadable, err, ""}
}
