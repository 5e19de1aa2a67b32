package statedir

import "syscall"

// identify takes when the file was created for its identity: its number is only told
// to those who open it.
func (s *Stamp) identify(sys any) {
	if data, ok := sys.(*syscall.Win32FileAttributeData); ok {
		s.File = uint64(data.CreationTime.Nanoseconds())
	}
}
