//go:build !linux

package tap

// yieldCPU does nothing: only Linux lets one thread give way.
func yieldCPU() {}
