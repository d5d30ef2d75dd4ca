package site

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/facts"
	"github.com/luaccm/ccm/runtime/state"
)

// NoState as a state directory means that nothing of a run is kept.
const NoState = "none"

// A StateDirectory is the choice of a state directory for the commands of a process.
type StateDirectory struct {
	temporary string // the directory for NoState; "" until needed
	imageRoot string // of the image with its own state directory; "" for none
}

// Choose returns the state directory of a command on the machine of o: dir, if it is not empty, or the one in the
// environment. Without one, an image has its own, which is [state.SystemDir] in it; with [sourceDateVariable] it keeps
// nothing. "" means the default. [NoState] is a temporary directory, which [Process.Close] removes.
func (s *StateDirectory) Choose(dir string, o *Options) (string, error) {
	root, err := absoluteRoot(o.Root)
	if err != nil {
		return "", err
	}
	image := root != "/" || o.Offline || facts.WithoutInit() != ""
	switch given := state.Given(dir); {
	case given == NoState, given == "" && image && os.Getenv(sourceDateVariable) != "":
		if s.temporary == "" {
			s.temporary, err = os.MkdirTemp("", "ccm-state-")
		}
		return s.temporary, err
	case given != "" || root == "/":
		return dir, nil
	}
	at := root
	for part := range strings.SplitSeq(state.SystemDir[1:], "/") {
		at = filepath.Join(at, part)
		if fi, err := os.Lstat(at); err == nil && fi.Mode().Type() == os.ModeSymlink {
			return "", diag.At(diag.Pos{File: at}, diag.Expected("a directory for the state of the image").Found("a symbolic link")).
				WithHint("set another directory with --state-dir, or keep nothing with --state-dir %s", NoState)
		}
	}
	s.imageRoot = root
	return at, nil
}

// imageOf returns the root of the image whose own state directory is dir, "" if dir is none of an image.
func (s *StateDirectory) imageOf(dir string) string {
	if s.imageRoot != "" && dir == filepath.Join(s.imageRoot, state.SystemDir) {
		return s.imageRoot
	}
	return ""
}

// close removes the temporary directory.
func (s *StateDirectory) close() {
	if s.temporary != "" {
		_ = os.RemoveAll(s.temporary)
		s.temporary = ""
	}
}

// absoluteRoot returns the path of a root; "" means /.
func absoluteRoot(root string) (string, error) {
	if root == "" {
		root = "/"
	}
	return filepath.Abs(root)
}
