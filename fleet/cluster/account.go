package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/diag"
)

// Answers of servers to requests of the system account (docs.nats.io, "System Events").
type systemAnswer struct {
	Server struct {
		Name string `json:"name"`
	} `json:"server"`
	Data struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"data"`
	Error *struct {
		Description string `json:"description"`
	} `json:"error"`
}

// serverConnections is the answer to CONNZ.
type serverConnections struct {
	Data struct {
		Server      string `json:"server_id"`
		Connections []struct {
			ID uint64 `json:"cid"`
		} `json:"connections"`
	} `json:"data"`
}

// serverState is the answer to VARZ.
type serverState struct {
	Data struct {
		Name        string    `json:"server_name"`
		Version     string    `json:"version"`
		Start       time.Time `json:"start"`
		Now         time.Time `json:"now"`
		Connections int       `json:"connections"`
		JetStream   struct {
			Config struct {
				MaxStore uint64 `json:"max_storage"`
			} `json:"config"`
			Stats struct {
				Store uint64 `json:"storage"`
			} `json:"stats"`
		} `json:"jetstream"`
	} `json:"data"`
}

// system connects to the system account.
func system(d *identity.Directory) (*nats.Conn, error) {
	return Access{Servers: d.Fleet.URLs(), CA: d.CA(), Credentials: d.SystemCredentials(), Inbox: "_INBOX", Name: "ccm fleet accounts"}.Dial()
}

// askServers sends a request to all servers, and calls f with the answer of each, which is JSON. A server that is silent
// for two seconds after another has answered is left out. An error of f ends it.
func askServers[Answer any](ctx context.Context, d *identity.Directory, conn *nats.Conn, subject string, body []byte, f func(Answer) error) error {
	inbox := conn.NewInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection is closed soon
	if err := conn.PublishRequest(subject, inbox, body); err != nil {
		return err
	}
	for i := range len(d.Fleet.Servers) {
		limit := Patience
		if i > 0 { // the first server has it, and the others need little longer
			limit = 2 * time.Second
		}
		within, cancel := context.WithTimeout(ctx, limit)
		m, err := sub.NextMsgWithContext(within)
		cancel()
		if err != nil {
			return nil
		}
		var a Answer
		if err := json.Unmarshal(m.Data, &a); err != nil {
			return fmt.Errorf("response from a server: %w", err)
		}
		if err := f(a); err != nil {
			return err
		}
	}
	return nil
}

// Disconnect ends the connections of a key. A server ends them itself when it takes the revocation, but not that of a
// client which it was admitting at that moment.
func Disconnect(ctx context.Context, d *identity.Directory, key string) error {
	conn, err := system(d)
	if err != nil {
		return err
	}
	defer conn.Close()
	request, err := json.Marshal(map[string]any{"auth": true, "acc": d.Fleet.Account, "user": key})
	if err != nil {
		return err
	}
	return askServers(ctx, d, conn, "$SYS.REQ.SERVER.PING.CONNZ", request, func(a serverConnections) error {
		within, cancel := context.WithTimeout(ctx, Patience)
		defer cancel()
		for _, c := range a.Data.Connections {
			if _, err := conn.RequestWithContext(within, "$SYS.REQ.SERVER."+a.Data.Server+".KICK", fmt.Appendf(nil, `{"cid":%d}`, c.ID)); err != nil {
				return err
			}
		}
		return nil
	})
}

// PushAccount hands the JWT of the account to all servers, and returns the names of those that
// took it. Servers that are down get it from the others when they are back.
func PushAccount(ctx context.Context, d *identity.Directory, token string) ([]string, error) {
	conn, err := system(d)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if int64(len(token)) > conn.MaxPayload() {
		return nil, diag.Exceeds("the account", "%d bytes of the servers, got %d because of its revocations (drop them with: ccm fleet rekey)", conn.MaxPayload(), len(token))
	}
	var names []string
	err = askServers(ctx, d, conn, "$SYS.REQ.ACCOUNT."+d.Fleet.Account+".CLAIMS.UPDATE", []byte(token), func(a systemAnswer) error {
		switch {
		case a.Error != nil:
			return fmt.Errorf("server %s: %s", a.Server.Name, a.Error.Description)
		case a.Data.Code != 200:
			return fmt.Errorf("server %s: %s", a.Server.Name, a.Data.Message)
		}
		names = append(names, a.Server.Name)
		return nil
	})
	if err != nil {
		return names, err
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, diag.None("server accepted the account")
	}
	return names, nil
}

// Account returns the JWT of the account as the servers have it, "" if no server has one.
func Account(ctx context.Context, d *identity.Directory) (string, error) {
	conn, err := system(d)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	m, err := conn.RequestWithContext(ctx, "$SYS.REQ.ACCOUNT."+d.Fleet.Account+".CLAIMS.LOOKUP", nil)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(m.Data)), nil
}

// A Server is a NATS server as it answered.
type Server struct {
	Name, Version string
	Start         time.Time
	JetStream     struct{ DiskUsed, DiskMax uint64 }
	Connections   int
	Now           time.Time // by the server's clock
	Delay         time.Duration
}

// Servers asks all servers for their state.
func Servers(ctx context.Context, d *identity.Directory) ([]Server, error) {
	conn, err := system(d)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	asked := time.Now()
	var list []Server
	err = askServers(ctx, d, conn, "$SYS.REQ.SERVER.PING.VARZ", nil, func(a serverState) error {
		s := Server{Name: a.Data.Name, Version: a.Data.Version, Start: a.Data.Start, Now: a.Data.Now, Connections: a.Data.Connections, Delay: time.Since(asked)}
		s.JetStream.DiskUsed, s.JetStream.DiskMax = a.Data.JetStream.Stats.Store, a.Data.JetStream.Config.MaxStore
		list = append(list, s)
		return nil
	})
	if err != nil {
		return list, err
	}
	slices.SortFunc(list, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}
