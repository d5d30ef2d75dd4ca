package node

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/bundle"
	"github.com/luaccm/ccm/runtime/diag"
)

// requestBytes is the size of one request: servers buffer each for each node.
const requestBytes = 256 << 10

// A Download gets bundles from the object store of an environment.
type Download struct {
	Conn        *nats.Conn
	Environment string
	// Parts is how long to wait for parts of a bundle that a replica lacks.
	Parts time.Duration
	// Obsolete reports whether the bundle is no longer needed: reads end with an error then.
	Obsolete func() bool
}

// An object is a bundle that is read in requests of requestBytes.
type object struct {
	Download
	ctx       context.Context
	stream    string
	chunks    string // the subject of the chunks
	single    bool   // there is only one chunk
	reader    direct.Reader
	remaining int    // chunks still to come
	from      uint64 // sequence of the next one
	buffered  [][]byte
	patience  time.Duration // time limit for a message of 128 KiB
}

var errObsolete = errors.New("no longer needed")

// Open finds the bundle of a SHA-256 in hexadecimal (ADR-20). The reader of it has to check the digest.
func (d Download) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	store := subject.Sites(d.Environment)
	metadata, chunks := subject.Objects(store)
	o := &object{Download: d, ctx: ctx, stream: subject.ObjectStream(store), reader: direct.Reader{Conn: d.Conn}, from: 1, patience: max(direct.Patience, d.Parts/2)}
	name := base64.URLEncoding.EncodeToString([]byte(subject.BundleObject(digest)))
	var found *direct.Message
	err := o.patiently(func() (bool, error) {
		var err error
		found, err = direct.Last(ctx, d.Conn, o.stream, strings.TrimSuffix(metadata, ">")+name)
		return err == nil && !found.Deleted(), err
	})
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", digest, err)
	}
	var info struct {
		NUID    string `json:"nuid"`
		Size    uint64 `json:"size"`
		Chunks  int    `json:"chunks"`
		Deleted bool   `json:"deleted"`
	}
	if err := json.Unmarshal(found.Data, &info); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", digest, diag.Cannot("read", "its metadata in the store", nil))
	}
	switch {
	case info.Deleted:
		return nil, diag.Gone(fmt.Sprintf("bundle %s", digest))
	case info.NUID == "" || strings.ContainsAny(info.NUID, ".*> \t\r\n"):
		return nil, fmt.Errorf("bundle %s: %w", digest, diag.Damaged("its metadata in the store", nil))
	case info.Size > uint64(bundle.DefaultLimits.PackedSize):
		return nil, diag.Exceeds(fmt.Sprintf("bundle %s", digest), "%d bytes, got %d",
			bundle.DefaultLimits.PackedSize, digest)
	}
	o.remaining, o.chunks, o.single = info.Chunks, strings.TrimSuffix(chunks, ">")+info.NUID, info.Chunks == 1
	return o, nil
}

// patiently calls ask, with growing pauses, as long as something comes within Timing.Parts. A
// part that one replica lacks comes from another, or a moment later. Time without a connection
// does not count: the download goes on where it was.
func (o *object) patiently(ask func() (came bool, err error)) error {
	end := time.Now().Add(o.Parts)
	pause := 100 * time.Millisecond
	for {
		if o.Obsolete() {
			return errObsolete
		}
		if !o.Conn.IsConnected() {
			if !retry.Sleep(o.ctx, 100*time.Millisecond) {
				return context.Cause(o.ctx)
			}
			end = time.Now().Add(o.Parts)
			continue
		}
		came, err := ask()
		if came {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(errors.New("some parts did not arrive"), err)
		}
		if !retry.Sleep(o.ctx, pause) {
			return context.Cause(o.ctx)
		}
		pause = min(2*pause, 5*time.Second)
	}
}

// Read implements io.Reader.
func (o *object) Read(p []byte) (int, error) {
	for len(o.buffered) == 0 {
		if o.remaining == 0 {
			return 0, io.EOF
		}
		if err := o.patiently(o.more); err != nil {
			return 0, err
		}
	}
	n := copy(p, o.buffered[0])
	if o.buffered[0] = o.buffered[0][n:]; len(o.buffered[0]) == 0 {
		o.buffered = o.buffered[1:]
	}
	return n, nil
}

// more requests the next chunks.
func (o *object) more() (came bool, err error) {
	o.buffered = nil
	take := func(m *direct.Message) error {
		if o.remaining == 0 {
			return diag.Mismatch("the length", "the size in the store")
		}
		if len(m.Data) > 0 {
			o.buffered = append(o.buffered, m.Data)
		}
		o.remaining--
		return nil
	}
	if err = o.request(take); errors.Is(err, direct.ErrNoAnswer) {
		o.patience *= 2 // the earlier request is still being answered, and in the way
	}
	return len(o.buffered) > 0, err // chunks before an error count
}

// request sends one request. A single chunk, which most bundles have, needs no subscription.
func (o *object) request(take func(*direct.Message) error) (err error) {
	if o.single {
		m, err := direct.LastWithin(o.ctx, o.Conn, o.patience, o.stream, o.chunks)
		if err != nil {
			return err
		}
		return take(m)
	}
	o.from, _, err = o.reader.Read(o.ctx, direct.Request{Stream: o.stream, Filter: o.chunks, From: o.from, Batch: o.remaining, MaxBytes: requestBytes, Patience: o.patience}, take)
	return err
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.reader.Close()
	return nil
}
