package export

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"mcpsnoop/internal/capture"
	"mcpsnoop/internal/session"
)

// newTemp makes a temporary file without a name, readable by its owner only.
func newTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "mcpsnoop-*")
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	os.Remove(f.Name()) // where that fails, closeTemp does it
	return f, nil
}

func closeTemp(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// scratch is a temporary file that is written from front to end.
type scratch struct {
	f  *os.File
	w  *bufio.Writer
	at int64
}

func newScratch(dir string) (*scratch, error) {
	f, err := newTemp(dir)
	if err != nil {
		return nil, err
	}
	return &scratch{f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (s *scratch) close() { closeTemp(s.f) }

// write appends parts as one record and returns where it begins.
func (s *scratch) write(parts ...[]byte) (at int64, err error) {
	at = s.at
	for _, p := range parts {
		n, err := s.w.Write(p)
		s.at += int64(n)
		if err != nil {
			return at, fmt.Errorf("write temporary file: %w", err)
		}
	}
	return at, nil
}

func (s *scratch) readAt(b []byte, at int64) error {
	if _, err := s.f.ReadAt(b, at); err != nil {
		return fmt.Errorf("read temporary file: %w", err)
	}
	return nil
}

func (s *scratch) flush() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	return nil
}

// A record of the spool is the length of its JSON, request and response as refs lead
// back to them in the log, the lengths of their ids, the ids, the JSON.
const recordLen = 4 + 2*refLen + 2 + 2

const refLen = 8 + 8 + 4 + 4 + 4

func appendRef(b []byte, r capture.Ref) []byte {
	b = binary.LittleEndian.AppendUint64(b, r.Seq)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.Offset))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Len))
	b = binary.LittleEndian.AppendUint32(b, uint32(r.Line))
	return binary.LittleEndian.AppendUint32(b, uint32(r.File))
}

func readRef(b []byte) capture.Ref {
	return capture.Ref{
		Seq:    binary.LittleEndian.Uint64(b),
		Offset: int64(binary.LittleEndian.Uint64(b[8:])),
		Len:    int32(binary.LittleEndian.Uint32(b[16:])),
		Line:   int32(binary.LittleEndian.Uint32(b[20:])),
		File:   int32(binary.LittleEndian.Uint32(b[24:])),
	}
}

// spool holds settled calls on disk: JSON without payloads, and where those lie.
// Calls are settled in any order; where each lies stands on disk too, in chunks of
// which only the places are kept in memory.
type spool struct {
	*scratch
	index    *os.File
	chunks   int64 // in index
	sessions [][]int64
	buf      bytes.Buffer
	head     []byte
	record   []byte
}

// chunkLen is how many calls of a session a chunk of the index has room for. Each has
// 8 bytes: one more than where it lies, 0 for none.
const chunkLen = 1024

func newSpool(dir string) (*spool, error) {
	records, err := newScratch(dir)
	if err != nil {
		return nil, err
	}
	index, err := newTemp(dir)
	if err != nil {
		records.close()
		return nil, err
	}
	return &spool{scratch: records, index: index}, nil
}

func (s *spool) close() {
	s.scratch.close()
	closeTemp(s.index)
}

// locate notes where a call lies.
func (s *spool) locate(session int, call int32, at int64) error {
	for len(s.sessions) <= session {
		s.sessions = append(s.sessions, nil)
	}
	for len(s.sessions[session]) <= int(call)/chunkLen {
		s.sessions[session] = append(s.sessions[session], s.chunks)
		s.chunks++
	}
	var entry [8]byte
	binary.LittleEndian.PutUint64(entry[:], uint64(at+1))
	slot := s.sessions[session][call/chunkLen]*chunkLen + int64(call)%chunkLen
	if _, err := s.index.WriteAt(entry[:], slot*8); err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	return nil
}

func (s *spool) put(i int, c *session.Call, out Call) error {
	s.buf.Reset()
	if err := encode(&s.buf, out); err != nil {
		return err
	}
	s.head = binary.LittleEndian.AppendUint32(s.head[:0], uint32(s.buf.Len()))
	s.head = appendRef(appendRef(s.head, c.Request), c.Response)
	last := c.ID
	if len(c.Legs) > 0 {
		last = c.Legs[len(c.Legs)-1].ID
	}
	s.head = binary.LittleEndian.AppendUint16(s.head, uint16(len(c.ID)))
	s.head = binary.LittleEndian.AppendUint16(s.head, uint16(len(last)))
	s.head = append(append(s.head, c.ID...), last...)
	at, err := s.write(s.head, s.buf.Bytes())
	if err != nil {
		return err
	}
	return s.locate(i, c.Index, at)
}

// spooled is a call as it comes back.
type spooled struct {
	json              []byte // holds until the next call comes back
	request, response message
}

// message says where a message lies: a frame, and its id should that be a batch.
type message struct {
	ref capture.Ref
	id  []byte
}

// each gives the calls of a session in order.
func (s *spool) each(i int, do func(spooled) error) error {
	if i >= len(s.sessions) {
		return nil
	}
	var chunk [chunkLen * 8]byte
	for _, number := range s.sessions[i] {
		n, err := s.index.ReadAt(chunk[:], number*int64(len(chunk)))
		if err != nil && err != io.EOF { // the file ends behind the last call
			return fmt.Errorf("read temporary file: %w", err)
		}
		for entry := chunk[:n-n%8]; len(entry) > 0; entry = entry[8:] {
			at := int64(binary.LittleEndian.Uint64(entry))
			if at == 0 {
				continue
			}
			c, err := s.get(at - 1)
			if err != nil {
				return err
			}
			if err := do(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *spool) get(at int64) (c spooled, err error) {
	var head [recordLen]byte
	if err := s.readAt(head[:], at); err != nil {
		return c, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	ids := head[4+2*refLen:]
	first, last := int(binary.LittleEndian.Uint16(ids)), int(binary.LittleEndian.Uint16(ids[2:]))
	s.record = slices.Grow(s.record[:0], first+last+n)[:first+last+n]
	if err := s.readAt(s.record, at+recordLen); err != nil {
		return c, err
	}
	c.request = message{readRef(head[4:]), s.record[:first]}
	c.response = message{readRef(head[4+refLen:]), s.record[first : first+last]}
	c.json = s.record[first+last:]
	return c, nil
}

// encode writes v as JSON on one line, characters of HTML as they are.
func encode(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	b.Truncate(b.Len() - 1) // the newline
	return nil
}
