//go:build !linux && !darwin && !windows

package proc

import (
	"errors"
	"os"
)

// system knows nothing on this kind of kernel, so identities are weak.
type system struct{}

func (system) Boot() (string, error) { return "", errors.ErrUnsupported }

func (system) Parent() int { return os.Getppid() }

func (system) Contained() bool { return false }

func (system) Process(int) (Process, error) { return Process{}, errors.ErrUnsupported }
