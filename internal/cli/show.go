package cli

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/export"
	"mcpsnoop/internal/judge"
	"mcpsnoop/internal/session"
	"mcpsnoop/internal/view"
)

func (a *app) showCommand() *cobra.Command {
	var raw bool
	c := &cobra.Command{
		Use:   "show [SESSION|LOG|-] SEQ",
		Short: "Show one frame, its call and its other half",
		Long: `show prints the frame with that number, every frame of the call it belongs to, and
the JSON of request and answer. With --raw it writes the bytes of the frame as they
passed, and nothing else.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("see "+c.CommandPath()+" --help", "no frame number given")
			}
			return maxArgs(2)(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			seq, err := parseSeq(args[len(args)-1])
			if err != nil {
				return err
			}
			return a.show(first(args[:len(args)-1]), seq, raw)
		},
	}
	c.Flags().BoolVar(&raw, "raw", false, "write the bytes of the frame as they passed")
	return c
}

// place is where a frame with the wanted number lies.
type place struct {
	session int
	ref     capture.Ref
}

func (a *app) show(arg string, seq uint64, raw bool) error {
	in, err := a.open(arg, true)
	if err != nil {
		return err
	}
	defer in.Close()
	defer a.onInterrupt(nil)()
	var found []place
	var j *judge.Judge
	if !raw {
		j = a.newJudge(judge.Options{})
	}
	r := session.New(session.Options{Keep: !raw, Moved: func(ref capture.Ref, _, to int) {
		for i := range found {
			if found[i].ref == ref {
				found[i].session = to
			}
		}
	}})
	err = judge.Fold(in, r, j, func(_ *capture.Frame, ref capture.Ref, st session.Step) error {
		if ref.Seq == seq {
			found = append(found, place{st.Session, ref})
		}
		return nil
	})
	if err != nil {
		return unreadable(err)
	}
	in.bar.Clear()
	if err := in.pick.has(r, in.name()); err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(p place) bool {
		h := r.Header(p.session)
		return !in.pick.ofTap(&h)
	})
	if len(found) == 0 {
		return usagef("tail and export name the frames there are", "no frame %d in %q", seq, in.name())
	}
	if raw {
		return a.showRaw(in, r, found)
	}
	return a.writeOutput("", nil, func(w io.Writer) error {
		for i, p := range found {
			if i > 0 {
				io.WriteString(w, "\n")
			}
			s := r.Snapshot(p.session)
			list, _ := j.End(p.session).Grouped()
			if err := export.Show(w, in, &s, list, seq, p.ref); err != nil {
				return err
			}
		}
		return nil
	})
}

// showRaw writes the bytes of a frame, if just one has that number.
func (a *app) showRaw(in *input, r *session.Reducer, found []place) error {
	if len(found) > 1 {
		return usagef("name one session's own log", "frame %d is in %d sessions, the first of them %q", found[0].ref.Seq, len(found), r.Header(found[0].session).ID)
	}
	f, err := in.Fetch(found[0].ref)
	if err != nil {
		return failed(err, "")
	}
	if f.Flags&capture.Truncated != 0 {
		a.note("frame %d was longer than its record: the first %s of %s follow", f.Seq, view.Size(int64(len(f.Payload))), view.Size(f.Size))
	}
	_, err = a.env.Stdout.Write(append(f.Payload, lineEnd[f.EOL]...))
	return err
}

// lineEnd is what stood behind a payload on the wire.
var lineEnd = map[capture.EOL]string{capture.LF: "\n", capture.CRLF: "\r\n", capture.NoEOL: ""}
