// Package cluster connects operators' commands and nodes to the NATS servers of a fleet, limits
// how much they read at once, and keeps the streams of the fleet.
package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// Patience is how long the servers may take to accept a connection, or to answer.
const Patience = 10 * time.Second

// A Cluster is a connection to the servers of a fleet.
type Cluster struct {
	*nats.Conn
	JetStream jetstream.JetStream
	Directory *identity.Directory
}

// An Access has the addresses and credentials for a connection to servers.
type Access struct {
	Servers     []string // URLs: tls://HOST:PORT
	CA          string   // file of certificates
	Credentials string   // file; "" for the system account's
	Inbox       string   // prefix of the subjects of answers
	Name        string   // name of this connection in the servers' lists
}

// Options returns the options of a connection to servers of a fleet: TLS 1.3 under its authority,
// and the credentials, which are read again for each connection.
func (a Access) Options() ([]nats.Option, error) {
	pem, err := os.ReadFile(a.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: %w", a.CA, diag.Expected("PEM certificates"))
	}
	if info, err := os.Stat(a.Credentials); err != nil {
		return nil, err
	} else if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s: %w", a.Credentials, diag.OthersCanRead("this file of credentials", info.Mode()))
	}
	return []nats.Option{
		nats.Name(a.Name), nats.Timeout(Patience), nats.CustomInboxPrefix(a.Inbox),
		nats.Secure(&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots}), nats.UserCredentials(a.Credentials),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the library prints them otherwise
	}, nil
}

// Dial tries to connect once, so that a command reports soon that no server answers.
func (a Access) Dial(options ...nats.Option) (*nats.Conn, error) {
	own, err := a.Options()
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(strings.Join(a.Servers, ","), append(own, options...)...)
	if err != nil {
		return nil, explain(a.Servers, err)
	}
	return conn, nil
}

// explain turns the error of a connection into one for people.
func explain(servers []string, err error) error {
	where := strings.Join(servers, ", ")
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired):
		return fmt.Errorf("%s: %w", where, diag.Rejected("server", "the credentials: they are revoked or belong to another fleet"))
	case errors.As(err, &unknown):
		return fmt.Errorf("%s: %w", where, diag.Not("the server certificate", "signed by the CA of this fleet"))
	case errors.As(err, &name):
		return fmt.Errorf("%s: %w", where, name)
	case errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("%s: %w", where, diag.None("server answered"))
	}
	return fmt.Errorf("%s: %w", where, err)
}

// Connect connects to the servers of a fleet as the user of its directory.
func Connect(d *identity.Directory) (*Cluster, error) {
	a := Access{Servers: d.Fleet.URLs(), CA: d.CA(), Credentials: d.Credentials(), Inbox: subject.UserInbox(d.Fleet.User), Name: "ccm fleet " + d.Fleet.User}
	conn, err := a.Dial(nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Cluster{Conn: conn, JetStream: js, Directory: d}, nil
}
