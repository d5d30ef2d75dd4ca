package identity

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/luaccm/ccm/fleet/subject"
	"github.com/luaccm/ccm/runtime/diag"
)

// putConfig plans to write the configuration of a server if it differs. Since people edit
// configurations, the old one is kept beside the new one.
func (p *planner) putConfig(name, text string) {
	have, err := os.ReadFile(p.Directory.file(name))
	if err != nil || string(have) == text {
		p.put(name, []byte(text), 0o644, "for nats-server -c")
		return
	}
	copied := name + "." + p.now.UTC().Format("20060102T150405Z")
	p.put(copied, have, 0o644, "backup of the old file with any manual edits")
	p.put(name, []byte(text), 0o644, "for nats-server -c; copy it to the server")
}

// preloaded returns the account in the configuration of a server. It stays there: the servers pass
// newer accounts to each other, and a changed configuration would have to be copied.
func (p *planner) preloaded(name string) string {
	_, rest, ok := strings.Cut(p.text(name+"/nats.conf"), "\n  "+p.Directory.Fleet.Account+": ")
	if !ok {
		return ""
	}
	token, _, _ := strings.Cut(rest, "\n")
	return token
}

// planServers plans the certificates and configurations of the servers.
func (p *planner) planServers(operatorJWT, system, systemJWT, accountJWT string) error {
	d, f := p.Directory, &p.Directory.Fleet
	ca, caKey := []byte(p.text(caFile)), []byte(p.text(caKeyFile))
	if len(ca) == 0 {
		var err error
		if ca, caKey, err = newAuthority(p.now); err != nil {
			return err
		}
		p.put(caFile, ca, 0o644, "verifies the servers for nodes and operators")
		p.put(caKeyFile, caKey, 0o600, "signs certificates of servers; keep it offline")
	} else {
		ca = append(ca, '\n')
	}
	var signs *authority
	if len(caKey) > 0 {
		var err error
		if signs, err = readAuthority(ca, caKey); err != nil {
			return fmt.Errorf("%s: %w", d.file(caKeyFile), err)
		}
	}
	names := f.ServerNames()
	for i, server := range f.Servers {
		host, _, _ := splitServer(server)
		cert := []byte(p.text(names[i] + "/cert.pem"))
		if signs != nil {
			if why := signs.stale(cert, host, p.now); why != "" {
				cert, key, err := signs.server(host, p.now)
				if err != nil {
					return err
				}
				p.put(names[i]+"/cert.pem", cert, 0o644, "certificate of "+server)
				p.put(names[i]+"/key.pem", key, 0o600, "private key of the certificate")
			}
		} else if len(cert) == 0 {
			return fmt.Errorf("%s: %w", d.file(caKeyFile), diag.Requires("a certificate for "+server, "this key"))
		}
		p.put(names[i]+"/ca.pem", ca, 0o644, "")
		p.putConfig(names[i]+"/nats.conf", f.serverConfig(i, operatorJWT, system, systemJWT, cmp.Or(p.preloaded(names[i]), accountJWT)))
	}
	context, err := json.MarshalIndent(map[string]string{"description": "ccm fleet", "url": strings.Join(f.URLs(), ","), "creds": d.file(OperatorCreds),
		"ca": d.file(caFile), "inbox_prefix": subject.UserInbox(f.User)}, "", "  ")
	if err != nil {
		return err
	}
	p.put(contextFile, append(context, '\n'), 0o644, "context for the nats command")
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	p.put(fleetFile, append(text, '\n'), 0o644, "description of this fleet")
	return nil
}
