//go:build !linux

package tap

// YieldCPU does nothing: only Linux lets one thread give way.
func YieldCPU() {}
