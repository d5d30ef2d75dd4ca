package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/record"
	"github.com/luaccm/ccm/fleet/subject"
)

// Servers that were restarted and then killed have all acknowledged messages, and accept more. With compressed
// streams they did not.
func TestServersDieAfterRestart(t *testing.T) {
	l := newLab(t)
	conn := l.dial(t, l.addNode(t, "web1", "prod"))
	told := 0
	tell := func() {
		t.Helper()
		for range 30 {
			waitFor(t, "an event to be stored", func() error {
				_, err := direct.Publish(t.Context(), conn, subject.Event("prod", "web1"), fmt.Appendf(nil, `{"event_id":"%d","text":"%0500d"}`+"\n", told, told),
					direct.Header("Nats-Msg-Id", fmt.Sprint("web1.", told)))
				return err
			})
			told++
		}
	}
	tell()
	for port, s := range l.servers { // in order, so that they store their state
		require.NoError(t, s.Process.Signal(syscall.SIGTERM))
		_ = s.Wait()
		delete(l.servers, port)
	}
	l.startAll(t)
	tell()
	for range 2 {
		l.killAll()
		l.startAll(t)
		tell()
	}
	operator := l.desk(t).Cluster
	waitFor(t, "all that was told to be there", func() error {
		n := 0
		err := direct.All(context.Background(), operator.Conn, direct.Request{Stream: subject.Events, Filter: subject.AllEvents}, func(*direct.Message) error { n++; return nil })
		if err == nil && n != told {
			err = fmt.Errorf("%d of %d", n, told)
		}
		return err
	})
}

// Commands that follow events or a rollout continue when the servers are back.
func TestFollowersOutliveServers(t *testing.T) {
	l := newLab(t)
	key, _ := l.operatorKey(t, "ops", 7)
	web1 := l.addNode(t, "web1", "prod")
	l.says(t, web1, record.State{}, nil)
	l.must(t, "fleet", "release", "prod", l.site(t, "exec { 'true' }\n"), "--sign", key, "--no-check")
	follow := func(args ...string) (*output, chan error) {
		cmd, said, ended := l.command(t.Context(), append([]string{"fleet"}, args...)...), new(output), make(chan error, 1)
		cmd.Stdout, cmd.Stderr = said, said
		require.NoError(t, cmd.Start())
		go func() { ended <- cmd.Wait() }()
		return said, ended
	}
	events, eventsEnded := follow("events", "-f", "--output", "json")
	rollout, rolloutEnded := follow("rollout", "prod", "--watch", "--sign", key)
	shows := func(o *output, what string) {
		t.Helper()
		waitFor(t, what, func() error {
			if text := o.String(); !strings.Contains(text, what) {
				return fmt.Errorf("it says %q", text)
			}
			return nil
		})
	}
	tell := func(id string) {
		t.Helper()
		waitFor(t, "an event to be stored", func() error {
			_, err := direct.Publish(t.Context(), l.dial(t, web1), subject.Event("prod", "web1"), fmt.Appendf(nil, `{"event_id":%q}`+"\n", id))
			return err
		})
		shows(events, `"event_id":"`+id+`"`)
	}
	tell("before")
	shows(rollout, "waits for its nodes")
	l.killAll()
	shows(rollout, "Servers are not responding, retrying")
	l.startAll(t)
	waitFor(t, "the servers", func() error {
		if _, stderr, status := l.ccm("fleet", "jobs"); status != 0 {
			return errors.New(stderr)
		}
		return nil
	})
	tell("after")
	time.Sleep(3 * time.Second) // a lost heartbeat must not stop anything
	l.says(t, web1, record.State{Outcome: "stable", RunID: "r", Release: 1, Stage: 1}, nil)
	require.NoError(t, <-rolloutEnded, rollout)
	shows(rollout, ": done\n")
	select {
	case err := <-eventsEnded:
		t.Fatal(err, events)
	default:
	}
}
