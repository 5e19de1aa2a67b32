package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"mcpsnoop/internal/term"
)

// writeOutput gives write the place that -o names: stdout for "" and "-". A regular
// file is replaced only once everything is written; a device or FIFO is written
// to as it is. inputs are the files the output is made from, which it must not be.
func (a *app) writeOutput(path string, inputs []string, write func(io.Writer) error) error {
	if toStdout(path) {
		return flushed(a.jsonOut(), write)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return usagef("name a file", "write %q: is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return inPlace(path, os.O_WRONLY, write)
	case err == nil:
		if a.isInput(info, inputs) {
			return usagef("name another file with -o", "write %q: it is the input", path)
		}
	case errors.Is(err, fs.ErrNotExist) && isLink(path):
		return usagef("name the file itself", "write %q: is a link to nothing", path)
	case !errors.Is(err, fs.ErrNotExist):
		return failed(fmt.Errorf("write %q: %w", path, err), "")
	}
	return a.replace(path, write)
}

// toStdout reports whether a value of -o means standard output.
func toStdout(path string) bool { return path == "" || path == "-" }

// jsonOut is standard output for JSON, in which strings of peers stand as they are:
// on a terminal they must not be obeyed. Other text has been escaped and passes.
func (a *app) jsonOut() io.Writer {
	if term.IsTerminal(a.env.Stdout) {
		return term.JSON(a.env.Stdout)
	}
	return a.env.Stdout
}

// palette is what standard output is coloured with.
func (a *app) palette() term.Palette { return a.paletteFor(a.env.Stdout) }

// paletteFor is what a file of ours is coloured with; nil is one that is no terminal.
func (a *app) paletteFor(f *os.File) term.Palette {
	mode, _ := term.ParseMode(a.color) // refused before any command runs if it is none
	return term.PaletteFor(f, mode, a.env.Getenv)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func (a *app) isInput(out os.FileInfo, inputs []string) bool {
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, out) {
			return true
		}
	}
	info, err := a.env.Stdin.Stat()
	return err == nil && os.SameFile(info, out)
}

// replace writes beside path and renames, so that a failure leaves the old file.
// A directory that takes no new files is written in place, and said so.
func (a *app) replace(path string, write func(io.Writer) error) error {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed(fmt.Errorf("create directory %q: %w", dir, err), "")
	}
	tmp, err := os.CreateTemp(dir, ".mcpsnoop-export-*")
	if err != nil {
		if _, exists := os.Stat(target); exists == nil && errors.Is(err, fs.ErrPermission) {
			a.note("directory %q takes no new files: writing %q in place", dir, target)
			return inPlace(target, os.O_WRONLY|os.O_TRUNC, write)
		}
		return failed(fmt.Errorf("write %q: %w", path, err), "")
	}
	defer a.onInterrupt(func() { os.Remove(tmp.Name()) })()
	err = flushed(tmp, write)
	if err == nil {
		err = tmp.Chmod(modeOf(target))
	}
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), target)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

// modeOf is the mode a replaced file keeps; recordings are private by default.
func modeOf(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o600
}

func inPlace(path string, flag int, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return failed(fmt.Errorf("write: %w", err), "")
	}
	return errors.Join(flushed(f, write), f.Close())
}

func flushed(w io.Writer, write func(io.Writer) error) error {
	b := bufio.NewWriterSize(w, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}
