package nats_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	natsio "github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/nats"
)

// A deaf server speaks the protocol of NATS to one client, and denies what is published to a subject with "denied" in it. It tells so late: when the
// client publishes again, or at once if the message wants an answer. Other messages it answers after what is late.
type deafServer struct {
	conn net.Conn
	in   *bufio.Reader
	late []string // denied subjects of which the client does not know
}

// answers are the answers to requests by the end of their subjects; what is missing is stored.
var answers = map[string]string{
	"STREAM.INFO.KV_CONF":   `{"type":"io.nats.jetstream.api.v1.stream_info_response","error":{"code":404,"err_code":10059,"description":"stream not found"}}`,
	"STREAM.INFO.OBJ_SITES": `{"type":"io.nats.jetstream.api.v1.stream_info_response","error":{"code":404,"err_code":10059,"description":"stream not found"}}`,
}

func (s *deafServer) serve() {
	fmt.Fprint(s.conn, `INFO {"server_id":"deaf","version":"2.11.0","proto":1,"headers":true,"max_payload":1048576}`+"\r\n")
	sid := ""
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		switch words[0] {
		case "PING":
			fmt.Fprint(s.conn, "PONG\r\n")
		case "SUB":
			sid = words[len(words)-1]
		case "PUB", "HPUB":
			size, _ := strconv.Atoi(words[len(words)-1])
			if _, err := s.in.Discard(size + 2); err != nil {
				return
			}
			reply, most := "", map[string]int{"PUB": 4, "HPUB": 5}[words[0]]
			if len(words) == most {
				reply = words[2]
			}
			s.published(words[1], reply, sid)
		}
	}
}

// published answers to a message.
func (s *deafServer) published(subject, reply, sid string) {
	for _, denied := range s.late {
		fmt.Fprintf(s.conn, "-ERR 'Permissions Violation for Publish to %q'\r\n", denied)
	}
	if len(s.late) > 0 {
		time.Sleep(200 * time.Millisecond) // so long has the client to act on it
	}
	s.late = nil
	switch {
	case strings.Contains(subject, "denied") && reply == "":
		s.late = append(s.late, subject)
	case strings.Contains(subject, "denied"):
		fmt.Fprintf(s.conn, "-ERR 'Permissions Violation for Publish to %q'\r\n", subject)
	case reply != "":
		answer := `{"stream":"S","seq":1}`
		for end, text := range answers {
			if strings.HasSuffix(subject, end) {
				answer = text
			}
		}
		fmt.Fprintf(s.conn, "MSG %s %s %d\r\n%s\r\n", reply, sid, len(answer), answer)
	}
}

// connect returns a client of a deaf server.
func connect(t *testing.T) *nats.Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		(&deafServer{conn: conn, in: bufio.NewReader(conn)}).serve()
	}()
	file := filepath.Join(t.TempDir(), "deaf.json")
	text, err := json.Marshal(map[string]string{"url": "nats://" + l.Addr().String()})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	c := nats.New(nats.Options{Context: file, Plain: true})
	t.Cleanup(c.Close)
	return c
}

// A notice about an earlier message does not end a later request; one about the request itself does at once.
func TestLateNotice(t *testing.T) {
	for name, request := range map[string]func(context.Context, *nats.Client) error{
		"": func(ctx context.Context, c *nats.Client) error { return c.Store(ctx, natsio.NewMsg("stored")) },
		"no bucket CONF": func(ctx context.Context, c *nats.Client) error {
			_, err := c.Value(ctx, "CONF", "key", 100)
			return err
		},
		"no bucket SITES": func(ctx context.Context, c *nats.Client) error {
			_, err := c.ObjectRevision(ctx, "SITES", "key")
			return err
		},
	} {
		c := connect(t)
		require.NoError(t, c.Send(t.Context(), natsio.NewMsg("denied.KV")))
		err := request(t.Context(), c)
		if name == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, name)
	}
	for name, request := range map[string]func(context.Context, *nats.Client) error{
		"subject denied": func(ctx context.Context, c *nats.Client) error { return c.Store(ctx, natsio.NewMsg("denied")) },
		"bucket denied": func(ctx context.Context, c *nats.Client) error {
			_, err := c.Value(ctx, "denied", "key", 100)
			return err
		},
		"bucket otherdenied": func(ctx context.Context, c *nats.Client) error {
			_, err := c.ObjectRevision(ctx, "otherdenied", "key")
			return err
		},
	} {
		began := time.Now()
		require.ErrorContains(t, request(t.Context(), connect(t)), name+": permission denied for the credentials of the context")
		require.Less(t, time.Since(began), 20*time.Second, name)
	}
}
