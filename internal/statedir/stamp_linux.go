package statedir

import "syscall"

func (s *Stamp) identify(sys any) {
	if st, ok := sys.(*syscall.Stat_t); ok {
		s.Device, s.File, s.Changed = uint64(st.Dev), uint64(st.Ino), st.Ctim.Nano()
	}
}
