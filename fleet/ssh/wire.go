package ssh

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"github.com/luaccm/ccm/runtime/diag"
)

// The protocols of the first line of either side.
const (
	helloProtocol   = "io.choria.ccm.v1.ssh.hello"
	requestProtocol = "io.choria.ccm.v1.ssh.request"
)

// A hello is the first line of the other side. Lines before it are from login shells.
type hello struct {
	Protocol string `json:"protocol"`
	Version  string `json:"version"`
}

// A Request describes what to run, in the first line of this side.
type Request struct {
	Protocol string `json:"protocol"`
	// Args are the arguments of ccm.
	Args []string `json:"args"`
	// Bundle is the site, nil if the command takes none.
	Bundle *BundleRef `json:"bundle,omitempty"`
	// Facts are facts below inventory.
	Facts map[string]any `json:"facts,omitempty"`

	wantsFacts bool // of each host
}

// WantFacts makes the client send the facts of each host, for a command that uses them.
func (r *Request) WantFacts() { r.wantsFacts = true }

// A BundleRef names the bundle of a site.
type BundleRef struct {
	// Site names the site on the host, whatever its content: its history and the resources of its
	// runs are kept under this name.
	Site string `json:"site"`
	// SHA256 and Size are those of the bundle.
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	// Arg is the index of the argument that the bundle's path replaces.
	Arg int `json:"arg"`
}

// A frame is any further line of the other side, with one of its fields set.
type frame struct {
	// Want says that the host lacks the bundle, which has to follow.
	Want bool `json:"want,omitempty"`
	// Out and Err are a line of the command.
	Out *string `json:"out,omitempty"`
	Err *string `json:"err,omitempty"`
	// Exit is the exit status of the command, in the last line.
	Exit *int `json:"exit,omitempty"`
	// Refusal says why no command was run.
	Refusal string `json:"refused,omitempty"`
}

// maxLine is the most bytes of a line.
const maxLine = 16 << 20

// errLongLine says that a line exceeds maxLine.
var errLongLine = diag.Exceeds("line", "16 MiB")

// errNoise says that the login shell did not cease to print.
var errNoise = diag.Exceeds("output before ccm started there", "16 MiB")

// readLine reads a line, without its end. At the end of the input the error is io.EOF, also for a
// line without an end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, errLongLine
		}
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return nil, err
		}
	}
}

// writeLine writes an object as one line.
func writeLine(w io.Writer, object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return diag.Cannot("encode", "it as JSON", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
