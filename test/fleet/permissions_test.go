package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/fleet/cluster"
	"github.com/luaccm/ccm/fleet/direct"
	"github.com/luaccm/ccm/fleet/subject"
)

// errRefused is returned if a server denies an operation.
var errRefused = errors.New("refused")

// An attempt is an operation that the holder of a key tries.
type attempt struct {
	what    string
	allowed bool
	do      func(*nats.Conn) error
}

// request sends a request, and returns the kind of answer. A denial arrives before the answer to a ping, so there is
// no timeout to wait for.
func request(to, body string, headers ...string) func(*nats.Conn) error {
	return func(conn *nats.Conn) error {
		inbox := conn.NewInbox()
		sub, err := conn.SubscribeSync(inbox)
		if err != nil {
			return err
		}
		m := &nats.Msg{Subject: to, Reply: inbox, Data: []byte(body), Header: nats.Header{}}
		for i := 0; i < len(headers); i += 2 {
			m.Header.Set(headers[i], headers[i+1])
		}
		if err := conn.PublishMsg(m); err != nil {
			return err
		}
		if err := refused(conn); err != nil {
			return err
		}
		answer, err := sub.NextMsg(time.Minute)
		if err != nil {
			return fmt.Errorf("no answer: %w", err)
		}
		var a struct {
			Error *struct {
				Code        int    `json:"err_code"`
				Description string `json:"description"`
			} `json:"error"`
		}
		if json.Unmarshal(answer.Data, &a) == nil && a.Error != nil {
			return fmt.Errorf("%w: %s (%d)", errRefused, a.Error.Description, a.Error.Code)
		}
		if status := answer.Header.Get("Status"); status != "" && status != "204" && status != "404" {
			return fmt.Errorf("%w: status %s", errRefused, status)
		}
		return nil
	}
}

// listen subscribes.
func listen(to string) func(*nats.Conn) error {
	return func(conn *nats.Conn) error {
		if _, err := conn.SubscribeSync(to); err != nil {
			return err
		}
		return refused(conn)
	}
}

// refused returns an error if a server has denied one of the last operations.
func refused(conn *nats.Conn) error {
	if err := conn.FlushTimeout(time.Minute); err != nil {
		return err
	}
	if err := conn.LastError(); err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return nil
}

// try makes attempts, each with its own connection.
func try(t *testing.T, dial func(t *testing.T) *nats.Conn, list []attempt) {
	for _, a := range list {
		t.Run(a.what, func(t *testing.T) {
			err := a.do(dial(t))
			if a.allowed {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, errRefused)
		})
	}
}

// dataBucket is a bucket that nodes may read.
const dataBucket = "CONF"

// attemptsOfNode are all operations that a holder of a node's credentials might try.
func attemptsOfNode(name, other, key string) []attempt {
	nodes, control, sites, testSites := subject.KVStream(subject.Nodes), subject.KVStream(subject.Control), subject.ObjectStream(subject.Sites("prod")), subject.ObjectStream(subject.Sites("test"))
	const api = "$JS.API."
	batch := `{"seq":1,"next_by_subj":">","batch":10}`
	consumer := `{"stream_name":"` + sites + `","config":{"deliver_policy":"all","ack_policy":"none"}}`
	return []attempt{
		{"write own facts", true, request(subject.KV(subject.Nodes, subject.FactsKey(name)), "{}")},
		{"write own state", true, request(subject.KV(subject.Nodes, subject.StateKey(name)), "{}")},
		{"write own heartbeat", true, request(subject.KV(subject.Presence, name), "{}")},
		{"write own event", true, request(subject.Event("prod", name), "{}")},
		{"register an own service", true, request("choria.ccm.registration.v1.prod.http.web.10_0_0_1."+name, "{}")},
		{"register an own service, second port", true, request("choria.ccm.registration.v1.prod.http.web.10_0_0_1."+name+"_2", "{}")},
		{"register an own service, fourth port", true, request("choria.ccm.registration.v1.prod.http.web.10_0_0_1."+name+"_4", "{}")},
		{"read the release of its environment", true, request(subject.DirectGet(control, subject.KV(subject.Control, "prod.release")), "")},
		{"read the signers of its environment", true, request(subject.DirectGet(control, subject.KV(subject.Control, "prod.signers")), "")},
		{"read a bundle of its environment", true, request(subject.DirectGet(sites, ""), batch)},
		{"read what a bundle is", true, request(subject.DirectGet(sites, "$O.CCM_SITES_prod.M.x"), "")},
		{"read the last job of its environment", true, request(subject.DirectGet(subject.Jobs, subject.Job("prod", "")), "")},
		{"read its own last job", true, request(subject.DirectGet(subject.Jobs, subject.Job("prod", name)), "")},
		{"read its own facts", true, request(subject.DirectGet(nodes, subject.KV(subject.Nodes, subject.FactsKey(name))), "")},
		{"read its own heartbeat", true, request(subject.DirectGet(subject.KVStream(subject.Presence), subject.KV(subject.Presence, name)), "")},
		{"read its own new credentials", true, request(subject.DirectGet(subject.Answers, subject.Enrolled(key)), "")},
		{"read the registry, as init allowed", true, request(subject.DirectGet(subject.Registration, ""), batch)},
		{"read a bucket of data, as init allowed", true, request(subject.DirectGet(subject.KVStream(dataBucket), subject.KV(dataBucket, "x")), "")},
		{"listen to changes of its environment", true, listen(subject.ControlChanges("prod"))},
		{"listen to jobs of its environment", true, listen(subject.Order("prod", ""))},
		{"listen to its own jobs", true, listen(subject.Order("prod", name))},
		{"listen to its own answers", true, listen(subject.Inbox(name) + ".>")},

		{"write facts of another node", false, request(subject.KV(subject.Nodes, subject.FactsKey(other)), "{}")},
		{"write the state of another node", false, request(subject.KV(subject.Nodes, subject.StateKey(other)), "{}")},
		{"write the heartbeat of another node", false, request(subject.KV(subject.Presence, other), "{}")},
		{"write an event of another node", false, request(subject.Event("prod", other), "{}")},
		{"write an event of another environment", false, request(subject.Event("test", name), "{}")},
		{"register a service of another node", false, request("choria.ccm.registration.v1.prod.http.web.10_0_0_1."+other, "{}")},
		{"register a fifth port", false, request("choria.ccm.registration.v1.prod.http.web.10_0_0_1."+name+"_5", "{}")},
		{"read the release of another environment", false, request(subject.DirectGet(control, subject.KV(subject.Control, "test.release")), "")},
		{"read it by a body", false, request(subject.DirectGet(control, ""), `{"last_by_subj":"$KV.CCM_CONTROL.test.release"}`)},
		{"read a bundle of another environment", false, request(subject.DirectGet(testSites, ""), batch)},
		{"read a bundle of another environment by its subject", false, request(subject.DirectGet(testSites, "$O.CCM_SITES_test.M.x"), "")},
		{"read facts of all nodes", false, request(subject.DirectGet(nodes, ""), batch)},
		{"read facts of another node", false, request(subject.DirectGet(nodes, subject.KV(subject.Nodes, subject.FactsKey(other))), "")},
		{"read heartbeats of all nodes", false, request(subject.DirectGet(subject.KVStream(subject.Presence), ""), batch)},
		{"read events", false, request(subject.DirectGet(subject.Events, ""), batch)},
		{"read all jobs", false, request(subject.DirectGet(subject.Jobs, ""), batch)},
		{"read jobs of another environment", false, request(subject.DirectGet(subject.Jobs, subject.Job("test", "")), "")},
		{"read jobs of another node", false, request(subject.DirectGet(subject.Jobs, subject.Job("prod", other)), "")},
		{"read requests of new machines", false, request(subject.DirectGet(subject.Enrolment, ""), batch)},
		{"read answers to all machines", false, request(subject.DirectGet(subject.Answers, ""), batch)},
		{"read another bucket of data", false, request(subject.DirectGet(subject.KVStream("OTHER"), subject.KV("OTHER", "x")), "")},
		{"write into a bucket of data", false, request(subject.KV(dataBucket, "x"), "evil")},
		{"write a release", false, request(subject.KV(subject.Control, "prod.release"), "evil")},
		{"write signers", false, request(subject.KV(subject.Control, "prod.signers"), "evil")},
		{"overwrite a bundle", false, request("$O.CCM_SITES_prod.C.x", "evil")},
		{"write what a bundle is", false, request("$O.CCM_SITES_prod.M.x", "evil")},
		{"order a job", false, request(subject.Job("prod", ""), "evil")},
		{"tell a job as if it were stored", false, request(subject.Order("prod", ""), "evil")},
		{"tell a job to another node", false, request(subject.Order("prod", other), "evil")},
		{"tell a release as if it were stored", false, request(subject.ControlChange("prod.release"), "evil")},
		{"ask to be enrolled", false, request(subject.Request(key), "x")},
		{"approve a machine", false, request(subject.Enrolled(key), "x")},
		{"create a consumer", false, request(api+"CONSUMER.CREATE."+sites, consumer)},
		{"create a stream", false, request(api+"STREAM.CREATE.EVIL", `{"name":"EVIL","subjects":["evil"]}`)},
		{"change a stream", false, request(api+"STREAM.UPDATE."+subject.Events, `{"name":"CCM_EVENTS"}`)},
		{"delete a stream", false, request(api+"STREAM.DELETE."+subject.Events, "")},
		{"empty a stream", false, request(api+"STREAM.PURGE."+nodes, "")},
		{"delete a message", false, request(api+"STREAM.MSG.DELETE."+subject.Events, `{"seq":1}`)},
		{"read a message by the other way", false, request(api+"STREAM.MSG.GET."+nodes, `{"seq":1}`)},
		{"list streams", false, request(api+"STREAM.NAMES", "")},
		{"look at a stream", false, request(api+"STREAM.INFO."+nodes, "")},
		{"look at the account", false, request(api+"INFO", "")},
		{"ask the servers", false, request("$SYS.REQ.SERVER.PING", "")},
		{"listen to all", false, listen(">")},
		{"listen to the usual answers", false, listen("_INBOX.>")},
		{"listen to answers for another node", false, listen(subject.Inbox(other) + ".>")},
		{"listen to answers for operators", false, listen(subject.UserInbox("*") + ".>")},
		{"listen to events", false, listen(subject.AllEvents)},
		{"listen to jobs of another environment", false, listen(subject.Order("test", ""))},
		{"listen to jobs of another node", false, listen(subject.Order("prod", other))},
		{"listen to jobs of all", false, listen(subject.AllOrders)},
		{"listen to changes of another environment", false, listen(subject.ControlChanges("test"))},
		{"listen to facts", false, listen(subject.KV(subject.Nodes, ">"))},
		{"listen to requests of new machines", false, listen(subject.AllRequests)},
		{"empty the facts of all by a roll-up", false, request(subject.KV(subject.Nodes, subject.FactsKey(name)), "{}", "Nats-Rollup", "all")},
		{"empty its own facts by a roll-up", false, request(subject.KV(subject.Nodes, subject.FactsKey(name)), "{}", "Nats-Rollup", "sub")},
		{"empty heartbeats by a roll-up", false, request(subject.KV(subject.Presence, name), "{}", "Nats-Rollup", "all")},
		{"empty events by a roll-up", false, request(subject.Event("prod", name), "{}", "Nats-Rollup", "all")},
		{"allow agents of Choria CCM to register services (needs rollups) by a roll-up", false, request("choria.ccm.registration.v1.prod.http.web.10_0_0_1."+name, "{}", "Nats-Rollup", "all")},
	}
}

// TestStolenNodeKey: a stolen key of a node gives access to nothing beyond the node's own data.
func TestStolenNodeKey(t *testing.T) {
	l := sharedLab(t)
	d := l.desk(t)
	name, other := unique("web"), unique("web")
	n := l.addNode(t, name, "prod")
	for _, bucket := range []string{dataBucket, "OTHER"} {
		ask(t, bucket, func(ctx context.Context) (jetstream.KeyValue, error) {
			return d.Cluster.JetStream.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket})
		})
	}
	for _, env := range []string{"prod", "test"} {
		_, err := direct.Publish(t.Context(), d.Cluster.Conn, subject.KV(subject.Control, subject.ReleaseKey(env)), []byte("signed"))
		require.NoError(t, err)
		ask(t, "the bundle", func(ctx context.Context) (*jetstream.ObjectInfo, error) {
			store, err := d.Cluster.JetStream.ObjectStore(ctx, subject.Sites(env))
			if err != nil {
				return nil, err
			}
			return store.PutString(ctx, "sha256-00.tar.gz", "bundle")
		})
	}
	dial := func(t *testing.T) *nats.Conn { return l.dial(t, n) }
	try(t, dial, attemptsOfNode(name, other, n.Key))
	t.Run("more than 16 subscriptions", func(t *testing.T) {
		conn := dial(t)
		for i := range 20 {
			_, err := conn.SubscribeSync(fmt.Sprintf("%s.%d", subject.Inbox(name), i))
			require.NoError(t, err)
		}
		_ = conn.FlushTimeout(time.Minute)
		require.Error(t, conn.LastError())
	})
	t.Run("a message of more than 256 KiB", func(t *testing.T) {
		tooLarge(t, l.access(t, n.credentials, subject.Inbox(name)), subject.KV(subject.Nodes, subject.FactsKey(name)), 257<<10)
	})
}

// The credentials of new machines are readable by anybody who has an image.
func TestStolenEnrolmentCredentials(t *testing.T) {
	l := sharedLab(t)
	name := unique("web")
	n := l.addNode(t, name, "prod")
	file := l.directory(t).Path + "/enrol.creds"
	dial := func(t *testing.T) *nats.Conn {
		conn, err := l.access(t, file, subject.EnrolmentInbox(n.Key)).Dial()
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		return conn
	}
	try(t, dial, []attempt{
		{"ask", true, request(subject.Request("U"+unique("X")), "x")},
		{"read an answer", true, request(subject.DirectGet(subject.Answers, subject.Enrolled(n.Key)), "")},
		{"write facts", false, request(subject.KV(subject.Nodes, subject.FactsKey(name)), "{}")},
		{"approve itself", false, request(subject.Enrolled(n.Key), "x")},
		{"read all answers", false, request(subject.DirectGet(subject.Answers, ""), `{"seq":1,"next_by_subj":">","batch":10}`)},
		{"read all requests", false, request(subject.DirectGet(subject.Enrolment, ""), `{"seq":1,"next_by_subj":">","batch":10}`)},
		{"read a release", false, request(subject.DirectGet(subject.KVStream(subject.Control), subject.KV(subject.Control, "prod.release")), "")},
		{"listen to jobs", false, listen(subject.Order("prod", ""))},
		{"listen to requests", false, listen(subject.AllRequests)},
		{"listen to answers for a node", false, listen(subject.Inbox(name) + ".>")},
		{"delete requests", false, request("$JS.API.STREAM.PURGE."+subject.Enrolment, "")},
	})
	tooLarge(t, l.access(t, file, subject.EnrolmentInbox(n.Key)), subject.Request("UX"), 5<<10)
}

// tooLarge sends a message above the limit, and the server must end the connection. A client that knows the limit
// sends none; then it is tried again.
func tooLarge(t *testing.T, a cluster.Access, to string, bytes int) {
	t.Helper()
	var err error
	for range 50 {
		if err = sendLarge(t, a, to, bytes); !errors.Is(err, nats.ErrMaxPayload) {
			break
		}
	}
	require.Error(t, err, "the server takes it")
	require.NotErrorIs(t, err, nats.ErrMaxPayload, "it was never sent")
}

// sendLarge returns an error if the server ends the connection during the message or before it answers the following
// ping.
func sendLarge(t *testing.T, a cluster.Access, to string, bytes int) error {
	t.Helper()
	conn, err := a.Dial(nats.NoReconnect())
	require.NoError(t, err)
	defer conn.Close()
	if err := conn.Publish(to, make([]byte, bytes)); err != nil {
		return err
	}
	return conn.FlushTimeout(patience)
}

// TestRolesOfPeople: the permissions of viewers and operators.
func TestRolesOfPeople(t *testing.T) {
	l := sharedLab(t)
	read := `{"seq":1,"next_by_subj":">","batch":10}`
	for _, role := range []string{"viewer", "operator"} {
		operator := role == "operator"
		person := unique(role)
		l.must(t, "fleet", "user", person, "--role", role)
		file := l.dir + "/users/" + person + "/user.creds"
		dial := func(t *testing.T) *nats.Conn {
			conn, err := l.access(t, file, subject.UserInbox(person)).Dial()
			require.NoError(t, err)
			t.Cleanup(conn.Close)
			return conn
		}
		t.Run(role, func(t *testing.T) {
			try(t, dial, []attempt{
				{"read facts", true, request(subject.DirectGet(subject.KVStream(subject.Nodes), ""), read)},
				{"read heartbeats", true, request(subject.DirectGet(subject.KVStream(subject.Presence), ""), read)},
				{"read events", true, request(subject.DirectGet(subject.Events, ""), read)},
				{"read jobs", true, request(subject.DirectGet(subject.Jobs, ""), read)},
				{"read releases", true, request(subject.DirectGet(subject.KVStream(subject.Control), subject.KV(subject.Control, "prod.release")), "")},
				{"listen to events", true, listen(subject.AllEvents)},
				{"read bundles", operator, request(subject.DirectGet(subject.ObjectStream(subject.Sites("prod")), ""), read)},
				{"write a release", operator, request(subject.KV(subject.Control, "prod.rollout"), "x")},
				{"write a bundle", operator, request("$O.CCM_SITES_prod.C."+unique("x"), "x")},
				{"order a job", operator, request(subject.Job("prod", ""), "x")},
				{"write facts of a node", false, request(subject.KV(subject.Nodes, "web1.facts"), "x")},
				{"approve a machine", false, request(subject.Enrolled("UX"), "x")},
				{"tell a job as if it were stored", false, request(subject.Order("prod", ""), "x")},
				{"delete a job", false, request("$JS.API.STREAM.MSG.DELETE."+subject.Jobs, `{"seq":1}`)},
				{"empty the log of jobs", false, request("$JS.API.STREAM.PURGE."+subject.Jobs, "")},
				{"delete a stream", false, request("$JS.API.STREAM.DELETE."+subject.Events, "")},
				{"listen to answers for others", false, listen(subject.UserInbox("*") + ".>")},
				{"listen to answers for nodes", false, listen("_INBOX_web1.>")},
			})
		})
	}
}

// The log of jobs cannot be changed even by an admin, who makes streams.
func TestJobsCannotBeDeleted(t *testing.T) {
	l := sharedLab(t)
	d := l.desk(t)
	_, err := direct.Publish(t.Context(), d.Cluster.Conn, subject.Job("prod", ""), []byte("x"))
	require.NoError(t, err)
	s := l.stream(t, d, subject.Jobs)
	require.Error(t, s.Purge(t.Context()))
	require.Error(t, s.DeleteMsg(t.Context(), 1))
}

// A connection needs TLS 1.3 and credentials.
func TestConnections(t *testing.T) {
	l := sharedLab(t)
	url := "127.0.0.1:" + l.ports[0]
	_, err := nats.Connect("nats://"+url, nats.UserCredentials(l.dir+"/operator.creds"))
	require.Error(t, err, "plain")
	_, err = nats.Connect("tls://"+url, nats.RootCAs(l.dir+"/ca.pem"))
	require.ErrorIs(t, err, nats.ErrAuthorization)
	n := l.addNode(t, unique("web"), "prod")
	_, err = nats.Connect("tls://"+url, nats.RootCAs(l.dir+"/ca.pem"), nats.UserJWT(func() (string, error) { return n.JWT, nil }, func([]byte) ([]byte, error) { return make([]byte, 64), nil }))
	require.ErrorIs(t, err, nats.ErrAuthorization, "a JWT without its seed")
	other := newCertificates(t)
	_, err = nats.Connect("tls://"+url, nats.RootCAs(other), nats.UserCredentials(n.credentials))
	require.ErrorContains(t, err, "certificate", "a server of another authority")
}
