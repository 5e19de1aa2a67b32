package tap

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"
)

// headRead is at most what the transport reads at once while it waits for a head.
const headRead = 4 << 10

// serverConn is a connection to the server. It knows whether what was read last
// holds the end of a head and more: then some of the body is here.
type serverConn struct {
	net.Conn
	pool *pool
	more atomic.Bool
}

func (p *proxy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := p.dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &serverConn{Conn: c, pool: &p.big}, nil
}

func (c *serverConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n <= headRead {
		i := bytes.Index(p[:n], []byte("\r\n\r\n"))
		c.more.Store(i >= 0 && i+4 < n)
	}
	return n, err
}

// ReadFrom sends a body, in larger pieces than the transport would.
func (c *serverConn) ReadFrom(r io.Reader) (sent int64, err error) {
	b := c.pool.get(httpBlock)
	defer b.release(1)
	for {
		n, rerr := r.Read(b.buf)
		if n > 0 {
			if _, err := c.Write(b.buf[:n]); err != nil {
				return sent, err
			}
			sent += int64(n)
		}
		if rerr == io.EOF {
			return sent, nil
		}
		if rerr != nil {
			return sent, rerr
		}
	}
}
