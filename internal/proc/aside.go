package proc

import "os"

// StartAside starts a program of ours that works for us on the side. What is sent to
// our process group, as a terminal sends Ctrl-C, does not reach it, and it does not die
// with us: it is to notice the end of its standard input. Of our files it has stdin and
// stderr.
func StartAside(path string, args []string, stdin, stderr *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess(path, append([]string{path}, args...), &os.ProcAttr{
		Files: []*os.File{stdin, null, stderr}, Sys: aside(),
	})
}
