package proc

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// hold is the job that the server and all it starts belong to. The last handle to it
// is ours, and the job is killed when that closes, however we end.
type hold struct{ job windows.Handle }

func isPath(name string) bool { return strings.ContainsAny(name, `/\:`) }

// resolve adds the extension that makes the file a program, if it has none.
func resolve(_, at string) (string, error) { return exec.LookPath(at) }

// startProcess starts the server suspended, so that it cannot start anything before
// it is in the job.
func startProcess(c Command, path string) (*os.Process, hold, error) {
	job, err := newJob()
	if err != nil {
		return nil, hold{}, err
	}
	attr := &os.ProcAttr{
		Dir: c.Dir, Env: c.Env,
		Files: []*os.File{c.Stdin, c.Stdout, c.Stderr},
		Sys:   &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED},
	}
	p, err := os.StartProcess(path, c.Argv, attr)
	if err != nil {
		windows.CloseHandle(job)
		return nil, hold{}, err
	}
	if err := errors.Join(assign(job, p.Pid), resume(p.Pid)); err != nil {
		p.Kill()
		p.Wait()
		windows.CloseHandle(job)
		return nil, hold{}, err
	}
	return p, hold{job}, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, os.NewSyscallError("CreateJobObject", err)
	}
	if err := limitJob(job, windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err != nil {
		windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

func limitJob(job windows.Handle, flags uint32) error {
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = flags
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return os.NewSyscallError("SetInformationJobObject", err)
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	return os.NewSyscallError("AssignProcessToJobObject", windows.AssignProcessToJobObject(job, h))
}

// resume starts the only thread of a process that was started suspended.
func resume(pid int) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return os.NewSyscallError("CreateToolhelp32Snapshot", err)
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != uint32(pid) {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return os.NewSyscallError("OpenThread", err)
		}
		defer windows.CloseHandle(thread)
		_, err = windows.ResumeThread(thread)
		return os.NewSyscallError("ResumeThread", err)
	}
	return os.NewSyscallError("Thread32Next", err)
}

func statusOf(state *os.ProcessState, err error) Status {
	if err != nil {
		return Status{Code: 1}
	}
	return Status{Code: state.ExitCode()}
}

// signal sends nothing: the console gives its events to the server itself.
func (c *Child) signal(syscall.Signal) error { return nil }

func (c *Child) kill() error { return windows.TerminateJobObject(c.hold.job, 1) }

// release lets go of the job without killing what the server started and left.
func (h hold) release() {
	limitJob(h.job, 0)
	windows.CloseHandle(h.job)
}

func signalName(sig syscall.Signal) string { return sig.String() }
