package studio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/sha256sum"
	"github.com/luaccm/ccm/runtime/state/statedir"
	"github.com/luaccm/ccm/runtime/textedit/splice"
)

// keptJournal is the most bytes of a journal that continues at the next start if all is saved. A
// longer one is begun anew, without the steps for undo.
const keptJournal = 32 << 20

// An entry is one line of the journal of a file. Exactly one of its parts is set.
type entry struct {
	// Open begins a journal, with the whole text of the file at that time.
	Open *fileContent `json:"open,omitempty"`
	// Edit has splices of the text so far.
	Edit []splice.Splice `json:"edit,omitempty"`
	// Joined says that the edit belongs to the step before it.
	Joined bool `json:"joined,omitempty"`
	Undo   bool `json:"undo,omitempty"`
	Redo   bool `json:"redo,omitempty"`
	// SavedDigest is the digest of the text that was saved to the file.
	SavedDigest string `json:"saved,omitempty"`
	// Base is the content of the file on the disk, if somebody else has changed it and the person
	// knows that.
	Base *fileContent `json:"based,omitempty"`
}

// A fileContent is the content of a file. Digest is empty if there is no file.
type fileContent struct {
	File   string `json:"file"`
	Text   string `json:"text"`
	Digest string `json:"digest"`
}

// An editJournal keeps the edits of one open file, so that nothing is lost when studio dies. Each line
// is a checksum and an entry, and is written before the answer to the edit. Only its owner may read
// it, because it has the content of files of the site.
type editJournal struct {
	name string
	file *os.File
}

// journalName returns the name of the journal of a file of a directory.
func journalName(directory, file string) string {
	return path.Join(journalDir(directory), sha256sum.Short(file, 12))
}

// journalDir returns the directory of the journals of a directory.
func journalDir(directory string) string { return path.Join("studio", sha256sum.Short(directory, 12)) }

// openJournal opens the journal of a file and returns its entries. An incomplete last line is cut
// off.
func openJournal(dir *statedir.Dir, directory, file string) (*editJournal, []entry, error) {
	j := &editJournal{name: journalName(directory, file)}
	if err := makeDirs(dir, path.Dir(j.name)); err != nil {
		return nil, nil, err
	}
	f, err := dir.Open(j.name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, nil, err
	}
	j.file = f
	entries, size, err := readEntries(f)
	if err == nil {
		err = f.Truncate(size)
	}
	if err == nil {
		_, err = f.Seek(size, io.SeekStart)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return j, entries, nil
}

// makeDirs makes a directory of the state and its parents.
func makeDirs(dir *statedir.Dir, name string) error {
	if err := os.MkdirAll(dir.Root, 0o700); err != nil {
		return err
	}
	made := ""
	for part := range strings.SplitSeq(name, "/") {
		made = path.Join(made, part)
		if err := dir.MakeDir(made); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// readEntries returns the entries of a journal and their size in bytes.
func readEntries(r io.Reader) (list []entry, size int64, err error) {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return list, size, nil // a line without an end is incomplete
		}
		if err != nil {
			return nil, 0, err
		}
		sum, text, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		var e entry
		if !ok || string(sum) != checksum(text) || json.Unmarshal(text, &e) != nil {
			return list, size, nil
		}
		list = append(list, e)
		size += int64(len(line))
	}
}

func checksum(text []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) }

// append adds an entry. When it returns the kernel has the entry: it outlives studio, but after a
// power loss entries that were not yet on the disk are lost.
func (j *editJournal) append(e entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line := append([]byte(checksum(text)+" "), text...)
	at, err := j.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		_, seek := j.file.Seek(at, io.SeekStart)
		return errors.Join(fmt.Errorf("the journal %s: %w", filepath.Base(j.name), bare(err)), j.file.Truncate(at), seek)
	}
	return nil
}

// restart empties the journal and begins it with an entry.
func (j *editJournal) restart(e entry) error {
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return j.append(e)
}

// isLong reports whether the journal is too long to continue.
func (j *editJournal) isLong() bool {
	fi, err := j.file.Stat()
	return err == nil && fi.Size() > keptJournal
}

func (j *editJournal) close() error { return j.file.Close() }
