package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type system struct{}

// Boot is the boot id together with the process id namespace: containers share the
// former, and count processes from 1 each.
func (system) Boot() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", fmt.Errorf("read process id namespace: %w", err)
	}
	return strings.TrimSpace(string(id)) + " " + space, nil
}

func (system) Parent() int { return os.Getppid() }

// initialNamespace is the process id namespace that the kernel begins with; its
// number is fixed in the kernel (PROC_PID_INIT_INO).
const initialNamespace = "pid:[4026531836]"

func (system) Contained() bool {
	space, err := os.Readlink("/proc/self/ns/pid")
	return err == nil && space != initialNamespace
}

func (system) Process(pid int) (Process, error) {
	if pid <= 0 {
		return Process{}, fmt.Errorf("process %d: %w", pid, errNoProcess)
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, err
	}
	return parseStat(stat)
}

// parseStat reads a line of /proc/<pid>/stat. The name stands in parentheses and
// may hold anything, parentheses, blanks and line ends too; nothing after it does.
func parseStat(stat []byte) (Process, error) {
	first, last := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if first < 0 || last < first {
		return Process{}, fmt.Errorf("parse stat: no name in %.80q", stat)
	}
	fields := strings.Fields(string(stat[last+1:])) // from field 3, the state
	const parent, start = 4 - 3, 22 - 3
	if len(fields) <= start {
		return Process{}, fmt.Errorf("parse stat: %d fields after the name", len(fields))
	}
	ppid, err := strconv.Atoi(fields[parent])
	if err != nil {
		return Process{}, fmt.Errorf("parse stat: parent: %w", err)
	}
	if _, err := strconv.ParseUint(fields[start], 10, 64); err != nil {
		return Process{}, fmt.Errorf("parse stat: start: %w", err)
	}
	return Process{Parent: ppid, Start: fields[start], Name: string(stat[first+1 : last])}, nil
}
