package proc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Process is what the kernel knows of a running process.
type Process struct {
	Parent int
	Start  string // the kernel's own start value; compared as text, means nothing else
	Name   string
}

// Kernel answers questions about processes; [System] is the real one.
type Kernel interface {
	// Boot returns what is the same for all processes whose ids and start values
	// can be compared, and for no others.
	Boot() (string, error)
	// Parent returns the id of our own parent.
	Parent() int
	// Process returns what is known of a running process.
	Process(pid int) (Process, error)
	// Contained reports whether process 1 is a program of somebody's choice, as in
	// a container, and not the system's own.
	Contained() bool
}

// System is this machine's kernel.
var System Kernel = system{}

// maxAncestors bounds how far up the family is recorded.
const maxAncestors = 4

// Host returns a hash of the boot identity of k's machine, "" if it has none.
func Host(k Kernel) string {
	boot, err := k.Boot()
	if err != nil || boot == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("mcpsnoop host\x00" + boot))
	return hex.EncodeToString(sum[:8])
}

// Client names the process that started us, as the kernel does: at the same time,
// whoever has the same parent gets the same Host, PID and Start. Weak says why it
// must not be relied on for that, "" if it may.
type Client struct {
	Host      string
	PID       int
	Start     string
	Name      string
	Weak      string
	Ancestors []Ancestor // of the client, nearest first: facts, nothing to tie by
}

// Ancestor is one process among a client's ancestors.
type Ancestor struct {
	PID         int
	Start, Name string
}

// FindClient finds out who started us.
func FindClient(k Kernel) Client {
	c := Client{Host: Host(k), PID: k.Parent()}
	parent, err := k.Process(c.PID)
	c.Start, c.Name = parent.Start, parent.Name
	switch {
	case c.Host == "":
		c.Weak = "the host's boot identity is unreadable"
	case err != nil || parent.Start == "":
		c.Weak = "the start of the parent process is unreadable"
	case isReaper(k, c.PID, parent.Name):
		c.Weak = "the parent process is the system's reaper: who started us is gone"
	}
	if err == nil {
		c.Ancestors = ancestors(k, parent.Parent)
	}
	return c
}

// Confirm marks c as weak if our parent is not, or may not be, the process that c
// was made from. Call it when the server has been started.
func (c *Client) Confirm(k Kernel) {
	if c.Weak != "" {
		return
	}
	if p, err := k.Process(c.PID); k.Parent() != c.PID || err != nil || p.Start != c.Start {
		c.Weak = "the parent process changed while we started"
	}
}

// isReaper reports whether a process adopts those whose parent has ended. Besides
// process 1 that is the user's own service manager, which on desktops adopts what
// was started in its sessions.
func isReaper(k Kernel, pid int, name string) bool {
	if pid == 1 {
		return !k.Contained() || reapers[name]
	}
	return name == "systemd"
}

// reapers are programs that containers run as process 1 to do what init does.
var reapers = map[string]bool{
	"init": true, "systemd": true, "tini": true, "docker-init": true, "dumb-init": true,
	"catatonit": true, "s6-svscan": true, "runit": true, "podman-init": true, "pause": true,
}

func ancestors(k Kernel, pid int) (list []Ancestor) {
	for len(list) < maxAncestors && pid > 0 {
		p, err := k.Process(pid)
		if err != nil {
			break
		}
		list = append(list, Ancestor{PID: pid, Start: p.Start, Name: p.Name})
		pid = p.Parent
	}
	return list
}

var errNoProcess = errors.New("no such process")
