package testsystem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
)

// Dial connects to an address, HOST:PORT, from inside of a system, which needs bash. The end of the context closes the
// connection.
func Dial(ctx context.Context, s System, address string) (_ net.Conn, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	// Pipes of the kernel: a command that ends does not wait for one that nobody writes to.
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &conn{in: in, out: out, cancel: cancel, address: address}
	const script = `exec 3<>"/dev/tcp/$1/$2" && echo connected && { cat <&3 & cat >&3; wait; }`
	ended := make(chan error, 1)
	go func() {
		var problem strings.Builder
		code, err := s.Exec(ctx, Cmd{Argv: []string{"bash", "-c", script, "bash", host, port}, Stdin: theirIn, Stdout: theirOut, Stderr: &problem})
		if err == nil && code != 0 {
			err = fmt.Errorf("%w%s", diag.ExitStatus(code), lastLine(problem.String()))
		}
		ended <- err
		theirIn.Close()
		theirOut.Close()
	}()
	line := make([]byte, len("connected\n"))
	if _, err := io.ReadFull(out, line); err != nil {
		if failure := <-ended; failure != nil {
			err = failure
		}
		return nil, errors.Join(diag.Cannot("connect to", address, err), c.Close())
	}
	return c, nil
}

// conn is a connection through a command.
type conn struct {
	in, out *os.File
	cancel  context.CancelFunc
	address string
}

func (c *conn) Read(p []byte) (int, error)  { return c.out.Read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.in.Write(p) }

func (c *conn) Close() error {
	c.cancel()
	return errors.Join(c.in.Close(), c.out.Close())
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

func (c *conn) LocalAddr() net.Addr  { return address("") }
func (c *conn) RemoteAddr() net.Addr { return address(c.address) }
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.in.SetDeadline(t), c.out.SetDeadline(t))
}
func (c *conn) SetReadDeadline(t time.Time) error  { return c.out.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.in.SetWriteDeadline(t) }
