package backup

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"io"
	"slices"
)

// A pack is a file with many small contents, because each file takes at least a block. It is written in
// one step:
//
//	"ccm\x00pack", the number of entries, and the CRC-32 (IEEE) of the entries
//	an entry for each content: its digest, suffix, offset and length
//	the contents, as they were in files of their own
//
// Numbers have 32 bits, big-endian; a suffix has 8.
const (
	packMagic  = "ccm\x00pack"
	headerSize = len(packMagic) + 4 + 4
	entrySize  = sha256.Size + 1 + 4 + 4
)

// A digest is the ID of a content.
type digest [sha256.Size]byte

// digestOf returns the digest that an ID is in hexadecimal.
func digestOf(id string) (d digest) {
	_, _ = hex.Decode(d[:], []byte(id))
	return d
}

// A packEntry locates a content in its pack.
type packEntry struct {
	id     digest
	suffix byte // index of suffixes
	offset uint32
	length uint32
}

// name returns the ID of the content.
func (e packEntry) name() string { return hex.EncodeToString(e.id[:]) }

// A packedContent is a content of a pack that is about to be written.
type packedContent struct {
	packEntry
	bytes []byte
}

// encodePack returns the pack with some contents.
func encodePack(list []packedContent) []byte {
	at := headerSize + len(list)*entrySize
	index := make([]byte, 0, at)
	for _, c := range list {
		index = append(append(index, c.id[:]...), c.suffix)
		index = binary.BigEndian.AppendUint32(index, uint32(at))
		index = binary.BigEndian.AppendUint32(index, uint32(len(c.bytes)))
		at += len(c.bytes)
	}
	out := append(make([]byte, 0, at), packMagic...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(list)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(index))
	out = append(out, index...)
	for _, c := range list {
		out = append(out, c.bytes...)
	}
	return out
}

// readIndex returns the entries of a pack of that size. Of a damaged one it returns those that are
// possible: what they locate is compared with its digest before it is used.
func readIndex(r io.ReaderAt, size int64) (list []packEntry, damaged bool, err error) {
	head := make([]byte, headerSize)
	if size < int64(headerSize) {
		return nil, true, nil
	}
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, false, err
	}
	count := int64(binary.BigEndian.Uint32(head[len(packMagic):]))
	sum := binary.BigEndian.Uint32(head[len(packMagic)+4:])
	fitting := min(count, (size-int64(headerSize))/entrySize)
	damaged = string(head[:len(packMagic)]) != packMagic || fitting < count
	index := make([]byte, fitting*entrySize)
	if _, err := r.ReadAt(index, int64(headerSize)); err != nil && len(index) > 0 {
		return nil, false, err
	}
	damaged = damaged || crc32.ChecksumIEEE(index) != sum
	for b := range slices.Chunk(index, entrySize) {
		e := packEntry{id: digest(b[:sha256.Size]), suffix: b[sha256.Size]}
		e.offset = binary.BigEndian.Uint32(b[sha256.Size+1:])
		e.length = binary.BigEndian.Uint32(b[sha256.Size+5:])
		if int(e.suffix) < len(suffixes) && e.length <= block && int64(e.offset)+int64(e.length) <= size {
			list = append(list, e)
		} else {
			damaged = true
		}
	}
	return list, damaged, nil
}
