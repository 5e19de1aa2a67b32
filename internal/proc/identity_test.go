package proc

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeKernel is a Kernel of what a test says.
type fakeKernel struct {
	boot      string
	parent    int
	processes map[int]Process
	contained bool
}

func (k *fakeKernel) Boot() (string, error) {
	if k.boot == "" {
		return "", errors.New("no boot id")
	}
	return k.boot, nil
}

func (k *fakeKernel) Parent() int     { return k.parent }
func (k *fakeKernel) Contained() bool { return k.contained }

func (k *fakeKernel) Process(pid int) (Process, error) {
	if p, ok := k.processes[pid]; ok {
		return p, nil
	}
	return Process{}, errNoProcess
}

func family() *fakeKernel {
	return &fakeKernel{boot: "b", parent: 500, processes: map[int]Process{
		500: {Parent: 400, Start: "9500", Name: "claude"},
		400: {Parent: 300, Start: "9400", Name: "zsh"},
		300: {Parent: 200, Start: "9300", Name: "tmux"},
		200: {Parent: 100, Start: "9200", Name: "sshd"},
		100: {Parent: 1, Start: "9100", Name: "sshd"},
		1:   {Parent: 0, Start: "7", Name: "systemd"},
	}}
}

func TestClient(t *testing.T) {
	k := family()
	got := FindClient(k)
	want := Client{
		Host: Host(k), PID: 500, Start: "9500", Name: "claude",
		Ancestors: []Ancestor{
			{PID: 400, Start: "9400", Name: "zsh"}, {PID: 300, Start: "9300", Name: "tmux"},
			{PID: 200, Start: "9200", Name: "sshd"}, {PID: 100, Start: "9100", Name: "sshd"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("client (-want +got):\n%s", diff)
	}
	if len(got.Host) != 16 {
		t.Errorf("host %q is no 16 digits", got.Host)
	}
	other := family()
	other.boot = "another"
	if Host(other) == got.Host {
		t.Error("two boots have one host")
	}
}

func TestClientWeak(t *testing.T) {
	tests := []struct {
		name string
		bend func(*fakeKernel)
		weak string
	}{
		{"strong", func(*fakeKernel) {}, ""},
		{"no boot id", func(k *fakeKernel) { k.boot = "" }, "the host's boot identity is unreadable"},
		{"no start", func(k *fakeKernel) { delete(k.processes, 500) }, "the start of the parent process is unreadable"},
		{"parent outside the container", func(k *fakeKernel) { k.parent = 0 }, "the start of the parent process is unreadable"},
		{"init", func(k *fakeKernel) { k.parent = 1 }, "the parent process is the system's reaper: who started us is gone"},
		{"user manager", func(k *fakeKernel) { k.processes[500] = Process{Parent: 1, Start: "5", Name: "systemd"} },
			"the parent process is the system's reaper: who started us is gone"},
		{"client is process 1 of its container", func(k *fakeKernel) {
			k.parent, k.contained = 1, true
			k.processes = map[int]Process{1: {Start: "5", Name: "node"}}
		}, ""},
		{"a container's init", func(k *fakeKernel) {
			k.parent, k.contained = 1, true
			k.processes = map[int]Process{1: {Start: "5", Name: "tini"}}
		}, "the parent process is the system's reaper: who started us is gone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := family()
			test.bend(k)
			c := FindClient(k)
			c.Confirm(k)
			if c.Weak != test.weak {
				t.Errorf("weak = %q, want %q", c.Weak, test.weak)
			}
		})
	}
}

func TestConfirm(t *testing.T) {
	const changed = "the parent process changed while we started"
	for name, bend := range map[string]func(*fakeKernel){
		"orphaned": func(k *fakeKernel) { k.parent = 1 },
		"gone":     func(k *fakeKernel) { delete(k.processes, 500) },
		"reused":   func(k *fakeKernel) { k.processes[500] = Process{Parent: 400, Start: "9999"} },
	} {
		t.Run(name, func(t *testing.T) {
			k := family()
			c := FindClient(k)
			bend(k)
			c.Confirm(k)
			if c.Weak != changed {
				t.Errorf("weak = %q, want %q", c.Weak, changed)
			}
		})
	}
}

func TestAncestorsEnd(t *testing.T) {
	k := family()
	delete(k.processes, 300)
	if got := FindClient(k).Ancestors; len(got) != 1 || got[0].PID != 400 {
		t.Errorf("ancestors %v, want the one that is readable", got)
	}
}

// TestSystem compares what this kernel says of us with what we know.
func TestSystem(t *testing.T) {
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
	default:
		t.Skip("this kernel is not asked")
	}
	if System.Parent() != os.Getppid() {
		t.Errorf("parent %d, want %d", System.Parent(), os.Getppid())
	}
	self, err := System.Process(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if self.Parent != os.Getppid() || self.Start == "" || self.Name == "" {
		t.Errorf("self = %+v, parent is %d", self, os.Getppid())
	}
	again, err := System.Process(os.Getpid())
	if err != nil || again != self {
		t.Errorf("asked again: %+v, %v; first %+v", again, err, self)
	}
	if host := Host(System); host == "" || host != Host(System) {
		t.Errorf("host %q is not steady", host)
	}
	if _, err := System.Process(1 << 30); err == nil {
		t.Error("a process that is none was found")
	}
}

// TestSiblings: two processes with one parent name it alike.
func TestSiblings(t *testing.T) {
	a, b := runHelper(t, "identity"), runHelper(t, "identity")
	if a != b {
		t.Errorf("siblings name their parent %q and %q", a, b)
	}
	self, err := System.Process(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	if want := helperIdentity(Client{Host: Host(System), PID: os.Getpid(), Start: self.Start}); a != want {
		t.Errorf("child names us %q, want %q", a, want)
	}
}

func runHelper(t *testing.T, mode string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PROC_TEST_HELPER="+mode)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("helper %s: %v", mode, err)
	}
	return string(out)
}
