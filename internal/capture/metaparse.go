package capture

import (
	"fmt"
	"time"

	"mcpsnoop/internal/jsontree"
)

// ParseStart reads the payload of a [Start] frame, of whatever recorder.
func ParseStart(payload []byte) (s StartInfo, err error) {
	return s, parseMeta(payload, "start", s.member)
}

// ParseGap reads the payload of a [Gap] frame.
func ParseGap(payload []byte) (g GapInfo, err error) {
	return g, parseMeta(payload, "gap", g.member)
}

// ParseClock reads the payload of a [Clock] frame.
func ParseClock(payload []byte) (c ClockInfo, err error) {
	return c, parseMeta(payload, "clock", c.member)
}

// ParseEnd reads the payload of an [End] frame.
func ParseEnd(payload []byte) (e EndInfo, err error) {
	return e, parseMeta(payload, "end", e.member)
}

// parseMeta reads an object whose known members must be as we write them. Members
// it does not know pass.
func parseMeta(payload []byte, what string, member memberFunc) error {
	var tree jsontree.Tree
	err := tree.Parse(payload)
	if err == nil {
		err = members(tree.Root(), member)
	}
	if err != nil {
		return fmt.Errorf("read payload of %s frame: %w", what, err)
	}
	return nil
}

func (s *StartInfo) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "command":
		return elements(v, func(e jsontree.Node) error {
			s.Command = append(s.Command, "")
			return stringNode(e, &s.Command[len(s.Command)-1])
		})
	case "cwd":
		return stringNode(v, &s.Cwd)
	case "format":
		return intNode(v, &s.Format)
	case "tool":
		return stringNode(v, &s.Tool)
	case "pid":
		return intNode(v, &s.PID)
	case "host":
		return stringNode(v, &s.Host)
	case "server_pid":
		return intNode(v, &s.ServerPID)
	case "client":
		s.Client = new(Client)
		return members(v, s.Client.member)
	case "listen":
		return stringNode(v, &s.Listen)
	case "target":
		return stringNode(v, &s.Target)
	}
	return nil
}

func (c *Client) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "host":
		return stringNode(v, &c.Host)
	case "pid":
		return intNode(v, &c.PID)
	case "start":
		return stringNode(v, &c.Start)
	case "name":
		return stringNode(v, &c.Name)
	case "weak":
		return stringNode(v, &c.Weak)
	case "ancestors":
		return elements(v, func(e jsontree.Node) error {
			c.Ancestors = append(c.Ancestors, Process{})
			return members(e, c.Ancestors[len(c.Ancestors)-1].member)
		})
	}
	return nil
}

func (p *Process) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "pid":
		return intNode(v, &p.PID)
	case "start":
		return stringNode(v, &p.Start)
	case "name":
		return stringNode(v, &p.Name)
	}
	return nil
}

func (g *GapInfo) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "lost":
		return intNode(v, &g.Lost)
	case "first":
		return intNode(v, &g.First)
	case "last":
		return intNode(v, &g.Last)
	case "bytes":
		return intNode(v, &g.Bytes)
	case "reason":
		return stringNode(v, &g.Reason)
	}
	return nil
}

func (c *ClockInfo) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "wall_us":
		return microsNode(v, &c.Wall)
	case "mono_us":
		return microsNode(v, &c.Mono)
	}
	return nil
}

func (e *EndInfo) member(name []byte, v jsontree.Node) error {
	switch string(name) {
	case "exit_code":
		e.ExitCode = new(int)
		return intNode(v, e.ExitCode)
	case "signal":
		return stringNode(v, &e.Signal)
	case "frames":
		return intNode(v, &e.Frames)
	case "dropped":
		return intNode(v, &e.Dropped)
	}
	return nil
}

func microsNode(v jsontree.Node, dst *time.Duration) error {
	var us int64
	if err := intNode(v, &us); err != nil {
		return err
	}
	return micros(us, dst)
}
