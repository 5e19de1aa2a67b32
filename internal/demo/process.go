package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// exitWithin is how long a server whose stdin we closed may take to end.
const exitWithin = 5 * time.Second

// process is a server process as an MCP transport and connection.
//
// The SDK's own CommandTransport gives up the whole connection at the first line
// on stdout that is no JSON. Clients built on the TypeScript SDK skip such a line
// and go on; so does this one, since the demo has to survive its own stray line.
type process struct {
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr tail

	writing sync.Mutex
	stdin   io.WriteCloser

	ended    chan struct{} // closed when Read will give nothing more
	ending   sync.Once
	closing  sync.Once
	closeErr error

	waiting sync.Mutex
	answer  chan struct{} // closed at the next response, nil if nobody waits
}

func newProcess(command []string) *process {
	p := &process{cmd: exec.Command(command[0], command[1:]...), ended: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = exitWithin // a grandchild may hold stderr open
	return p
}

// Connect starts the process.
func (p *process) Connect(context.Context) (mcp.Connection, error) {
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin, p.lines = stdin, bufio.NewReader(stdout)
	return p, nil
}

// Read returns the next message and skips lines that are no JSON.
func (p *process) Read(context.Context) (msg jsonrpc.Message, err error) {
	defer func() {
		if err != nil {
			p.ending.Do(func() { close(p.ended) })
		}
	}()
	for {
		line, err := p.lines.ReadBytes('\n')
		if json.Valid(line) {
			msg, err := jsonrpc.DecodeMessage(line)
			if _, ok := msg.(*jsonrpc.Response); ok {
				p.responded()
			}
			return msg, err
		}
		if err != nil {
			return nil, err
		}
	}
}

func (p *process) Write(_ context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	_, err = p.stdin.Write(append(line, '\n'))
	return err
}

// Close closes the server's stdin and waits until it has said its last word and
// is gone. One that does not go is killed.
func (p *process) Close() error {
	p.closing.Do(func() {
		if p.stdin == nil {
			return // never started
		}
		p.stdin.Close()
		kill := time.AfterFunc(exitWithin, func() { p.cmd.Process.Kill() })
		defer kill.Stop()
		select {
		case <-p.ended:
		case <-time.After(exitWithin):
		}
		if err := p.cmd.Wait(); err != nil {
			p.closeErr = fmt.Errorf("the server did not end well: %w", err)
		}
	})
	return p.closeErr
}

func (p *process) SessionID() string { return "" }

// nextResponse returns a channel that is closed when the next response is read.
func (p *process) nextResponse() <-chan struct{} {
	p.waiting.Lock()
	defer p.waiting.Unlock()
	p.answer = make(chan struct{})
	return p.answer
}

func (p *process) responded() {
	p.waiting.Lock()
	defer p.waiting.Unlock()
	if p.answer != nil {
		close(p.answer)
		p.answer = nil
	}
}

// said returns the last lines of the process's stderr.
func (p *process) said() string { return p.stderr.String() }

// tail keeps the last KiB or two written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - 2048; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
