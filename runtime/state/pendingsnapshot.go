package state

import (
	"bytes"

	"github.com/luaccm/ccm/runtime/catalog"
	"github.com/luaccm/ccm/runtime/schema"
)

// A pendingSnapshot is what there is to record of a catalog if all that it wants comes to be
// so. It is put into its form while the run goes on, so that the run need not wait for
// that in the end.
type pendingSnapshot struct {
	catalog *catalog.Catalog
	done    chan struct{} // closed when the rest is known
	sums    []fingerprints
	text    []byte // of the file of the catalog; nil if it is not foreseen
}

const (
	// manyDeclared is how many resources make it worth the while, mostForeseen how
	// large the file of a catalog is at most that is kept in memory, in bytes.
	manyDeclared    = 256
	largestSnapshot = 8 << 20
)

// prepare begins to foresee what there is to record.
func (a *siteRecord) prepare(c *catalog.Catalog) {
	if a.pending != nil || a.s.effect != nil || len(c.Resources) < manyDeclared {
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
			if !managed(r) || len(r.Later) > 0 || len(r.Sensitive) > 0 {
				return
			}
			sum = schema.CombineHash(sum, f.sums[i].all)
		}
		if recorded != formatSum(sum) {
			f.text = a.compressed(c)
		}
	}()
}

// compressed returns the file of a catalog, nil if it is too large.
func (a *siteRecord) compressed(c *catalog.Catalog) []byte {
	var file bytes.Buffer
	z := newCompressor(&file)
	defer z.release()
	var line []byte
	var properties schema.Table
	for _, r := range c.Resources {
		var err error
		if line, err = a.appendDeclared(line[:0], r, &properties); err == nil {
			_, err = z.Write(line)
		}
		if err != nil || file.Len() > largestSnapshot {
			return nil
		}
	}
	if z.Close() != nil {
		return nil
	}
	return file.Bytes()
}

// fingerprintsOf is fingerprints of a catalog, of which they may be known.
func (a *siteRecord) fingerprintsOf(c *catalog.Catalog) []fingerprints {
	if f := a.pending; f != nil {
		<-f.done
		if f.catalog == c {
			return f.sums
		}
	}
	return a.fingerprints(c.Resources)
}

// preparedText returns the file of the catalog for what is to be recorded, nil if that
// is not what was foreseen.
func (a *siteRecord) preparedText(list []snapshotEntry) []byte {
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
