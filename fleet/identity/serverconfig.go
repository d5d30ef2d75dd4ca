package identity

import (
	"fmt"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
)

// Ports of servers without a given one: for clients, and higher by routeOffset for the other
// servers.
const (
	clientPort  = 4222
	routeOffset = 2000
	monitorPort = 8222
)

// splitServer reads HOST or HOST:PORT.
func splitServer(text string) (host string, port int, err error) {
	host, port = text, clientPort
	if strings.Contains(text, "://") {
		return "", 0, fmt.Errorf("server %q: %w", text, diag.Expected("HOST or HOST:PORT, without a scheme"))
	}
	if h, p, e := net.SplitHostPort(text); e == nil {
		host = h
		if port, err = strconv.Atoi(p); err != nil || port < 1 || port > 65535-routeOffset {
			return "", 0, fmt.Errorf("server %q: %w", text, diag.Expected("a port from 1 to %d", 65535-routeOffset))
		}
	}
	host = strings.Trim(host, "[]")
	if net.ParseIP(host) == nil && !isHostName(host) {
		return "", 0, fmt.Errorf("server %q: %w", text, diag.Expected("a host name or an address, and perhaps a port"))
	}
	return host, port, nil
}

func isHostName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-') {
				return false
			}
		}
	}
	return true
}

func joinServer(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// ServerNames returns the names of the servers, which are those of their folders too: the host,
// with the port if two servers share a host.
func (f *Fleet) ServerNames() []string {
	shared := f.sharedHosts()
	var names []string
	for _, s := range f.Servers {
		host, port, _ := splitServer(s)
		name := strings.ReplaceAll(host, ":", "-")
		if shared {
			name += "-" + strconv.Itoa(port)
		}
		names = append(names, name)
	}
	return names
}

// sharedHosts reports whether two servers share a host.
func (f *Fleet) sharedHosts() bool {
	var hosts []string
	for _, s := range f.Servers {
		host, _, _ := splitServer(s)
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return len(slices.Compact(hosts)) < len(f.Servers)
}

// serverConfig returns the configuration of one nats-server. operator, systemJWT and accountJWT are
// the JWTs of operator, system account and account.
func (f *Fleet) serverConfig(i int, operator, system, systemJWT, accountJWT string) string {
	name := f.ServerNames()[i]
	host, port, _ := splitServer(f.Servers[i])
	config, store, monitor := f.ConfigDir, f.StoreDir, monitorPort
	if f.sharedHosts() {
		config, store, monitor = path.Join(config, name), path.Join(store, name), port+2*routeOffset
	}
	listen := "0.0.0.0"
	switch ip := net.ParseIP(host); {
	case ip != nil && ip.IsLoopback():
		listen = host // a trial on one machine, not for other machines
	case ip != nil && ip.To4() == nil:
		listen = "::"
	}
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# %s, made by ccm fleet init. It belongs into %s, with the files beside it.", name, config)
	p("server_name: %q", name)
	p("listen: %q", joinServer(listen, port))
	p("client_advertise: %q  # not its address: the certificate has the name", joinServer(host, port))
	p("http: %q  # figures for this machine only", joinServer("127.0.0.1", monitor))
	p("max_payload: 1MB")
	p("tls {\n  cert_file: %q\n  key_file: %q\n  min_version: \"1.3\"\n  timeout: 15\n}", path.Join(config, "cert.pem"), path.Join(config, "key.pem"))
	p("jetstream {\n  store_dir: %q\n  sync_interval: always  # what is acknowledged is on the disk\n}", path.Join(store, "jetstream"))
	p("operator: %s", operator)
	p("system_account: %s", system)
	p("resolver {\n  type: full\n  dir: %q\n  allow_delete: false\n  interval: \"2m\"\n}", path.Join(store, "accounts"))
	p("resolver_preload {\n  %s: %s\n  %s: %s\n}", system, systemJWT, f.Account, accountJWT)
	if len(f.Servers) > 1 {
		var routes []string
		for j, s := range f.Servers {
			if h, q, _ := splitServer(s); j != i {
				routes = append(routes, fmt.Sprintf("%q", "nats-route://"+joinServer(h, q+routeOffset)))
			}
		}
		p("cluster {\n  name: \"ccm\"\n  listen: %q\n  routes: [%s]", joinServer(listen, port+routeOffset), strings.Join(routes, ", "))
		p("  advertise: %q", joinServer(host, port+routeOffset))
		p("  tls {\n    cert_file: %q\n    key_file: %q\n    ca_file: %q\n    verify: true\n    min_version: \"1.3\"\n    timeout: 15\n  }\n}",
			path.Join(config, "cert.pem"), path.Join(config, "key.pem"), path.Join(config, "ca.pem"))
	}
	return b.String()
}
