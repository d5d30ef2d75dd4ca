package state

import (
	"bytes"
	"io"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/schema"
	"github.com/luaccm/ccm/runtime/state/statedir"
)

// A pendingSnapshot is the snapshot of a catalog in case every resource will be in order. It is
// encoded in the background during the run, so that the end of the run does not wait for it: it
// makes 1,000 created files 1.1 times as fast.
type pendingSnapshot struct {
	catalog *catalog.Catalog
	done    chan struct{} // closed when the other fields are set
	sums    []fingerprints
	text    []byte // of the catalog's file; nil if there is none
}

const (
	// manyDeclared is the size of a catalog from which the background goroutine pays.
	// largestSnapshot is the largest file held in memory, in bytes.
	manyDeclared    = 256
	largestSnapshot = 8 << 20
)

// prepare starts the encoding of the pending snapshot.
func (a *appliedRecord) prepare(c *catalog.Catalog) {
	if a.pending != nil || a.s.dir.IsWatched() || len(c.Resources) < manyDeclared {
		return
	}
	a.readHead()
	recorded := ""
	if a.hasCatalog() {
		recorded = a.head.Fingerprint
	}
	f := &pendingSnapshot{catalog: c, done: make(chan struct{})}
	a.pending = f
	go func() {
		defer close(f.done)
		f.sums = a.fingerprints(c.Resources)
		var sum uint64
		for i, r := range c.Resources {
			if !managed(r) || len(r.LazyProperties) > 0 || len(r.Sensitive) > 0 {
				return
			}
			sum = schema.CombineHash(sum, f.sums[i].whole)
		}
		if recorded != formatSum(sum) {
			f.text = a.compressed(c)
		}
	}()
}

// compressed returns the file of a catalog, nil if it is too large.
func (a *appliedRecord) compressed(c *catalog.Catalog) []byte {
	var file bytes.Buffer
	err := statedir.Compress(&file, func(z io.Writer) error {
		var line []byte
		var properties schema.Table
		for _, r := range c.Resources {
			var err error
			if line, err = a.appendDeclared(line[:0], r, &properties); err == nil {
				_, err = z.Write(line)
			}
			if err == nil && file.Len() > largestSnapshot {
				err = diag.Too("", "large")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return file.Bytes()
}

// fingerprintsOf returns the fingerprints of a catalog; those of the pending snapshot, if it has
// the same catalog.
func (a *appliedRecord) fingerprintsOf(c *catalog.Catalog) []fingerprints {
	if f := a.pending; f != nil {
		<-f.done
		if f.catalog == c {
			return f.sums
		}
	}
	return a.fingerprints(c.Resources)
}

// preparedText returns the text of the pending snapshot, nil if it is not of list.
func (a *appliedRecord) preparedText(list []snapshotEntry) []byte {
	f := a.pending
	if f == nil || len(list) != len(f.catalog.Resources) {
		return nil
	}
	for i, x := range list {
		if x.now != f.catalog.Resources[i] {
			return nil
		}
	}
	return f.text
}
