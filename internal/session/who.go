package session

import (
	"hash/maphash"
	"math/bits"

	"mcpsnoop/internal/capture"
)

// who says between which ends a message went, as hashes; 0 is unknown. On stdio
// there is one client and one server, and all are 0.
type who struct{ session, conn, exchange uint64 }

func (r *Reducer) whoOf(f *capture.Frame) (w who) {
	if f.Transport != capture.HTTP {
		return w
	}
	if f.MCPSession != "" {
		w.session = maphash.String(r.seed, f.MCPSession) | 1
	}
	if f.Conn != "" {
		w.conn = maphash.String(r.seed, f.Conn) | 1
	}
	if f.Exchange != 0 {
		w.exchange = scramble(f.Exchange) | 1
	}
	return w
}

// peer is the best name of the client: ids mean the same within it.
func (w who) peer() uint64 {
	switch {
	case w.session != 0:
		return w.session
	case w.conn != 0:
		return w.conn
	}
	return w.exchange
}

// meets reports whether two messages may belong to one conversation.
func (w who) meets(v who) bool { return w.session == 0 || v.session == 0 || w.session == v.session }

// scopes yields under whom to look for what a message names, best first.
func (w who) scopes() [4]uint64 { return [4]uint64{w.exchange, w.session, w.conn, 0} }

// under ties a hash to a scope.
func under(hash, scope uint64) uint64 {
	if scope == 0 {
		return hash
	}
	return hash ^ scramble(scope)
}

func scramble(v uint64) uint64 {
	hi, lo := bits.Mul64(v^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	return hi ^ lo
}

// What a hash is of, so that an id, a token and a state of one text differ.
const (
	ofToken uint64 = 0xA0761D6478BD642F
	ofTask  uint64 = 0xE7037ED1A0B428DB
	ofC2S   uint64 = 0x8EBC6AF09C88C6E3
	ofS2C   uint64 = 0x589965CC75374CC3
)

// sideOf makes the ids of two directions differ.
func sideOf(dir capture.Dir) uint64 {
	if dir == capture.C2S {
		return ofC2S
	}
	return ofS2C
}

func (r *Reducer) hash(b []byte) uint64 { return maphash.Bytes(r.seed, b) }

func (r *Reducer) hashString(s string) uint64 { return maphash.String(r.seed, s) }
