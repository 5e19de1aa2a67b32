//go:build darwin || freebsd || netbsd

package statedir

import "syscall"

func (s *Stamp) identify(sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		s.Device, s.File, s.Changed = uint64(st.Dev), st.Ino, st.Ctimespec.Nano()
	}
}
