package proc

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

type system struct{}

// Boot is the machine's identity. It need not name the boot: a process's start is
// its creation time here, which no two boots share.
func (system) Boot() (string, error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return "", fmt.Errorf("read machine id: %w", err)
	}
	defer k.Close()
	id, _, err := k.GetStringValue("MachineGuid")
	if err != nil {
		return "", fmt.Errorf("read machine id: %w", err)
	}
	return id, nil
}

func (system) Parent() int { return os.Getppid() }

// Contained is false: there is no reaper, a process whose parent ended keeps its id.
func (system) Contained() bool { return false }

func (system) Process(pid int) (Process, error) {
	entry, err := snapshotEntry(uint32(pid))
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	start, err := creation(uint32(pid))
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	p := Process{
		Parent: int(entry.ParentProcessID),
		Start:  strconv.FormatUint(start, 10),
		Name:   windows.UTF16ToString(entry.ExeFile[:]),
	}
	// The parent's id may have been given to somebody else since: no parent is
	// younger than its child.
	if parent, err := creation(entry.ParentProcessID); err != nil || parent > start {
		p.Parent = 0
	}
	return p, nil
}

func snapshotEntry(pid uint32) (windows.ProcessEntry32, error) {
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return entry, os.NewSyscallError("CreateToolhelp32Snapshot", err)
	}
	defer windows.CloseHandle(snapshot)
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		if entry.ProcessID == pid {
			return entry, nil
		}
	}
	return entry, errNoProcess
}

// creation returns when a process was created, in 100 ns since 1601.
func creation(pid uint32) (uint64, error) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return 0, os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, os.NewSyscallError("GetProcessTimes", err)
	}
	return uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime), nil
}
