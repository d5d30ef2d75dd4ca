package systemd

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
)

// defaultPort returns the TCP port that a service listens on as packages configure it, 0 if none is known. Services that
// choose another port, or only use some addresses, are left out.
func defaultPort(service string) int {
	switch strings.TrimSuffix(service, ".service") {
	case "nginx", "apache2", "httpd", "lighttpd", "caddy":
		return 80
	case "mysql", "mysqld", "mariadb":
		return 3306
	case "redis", "redis-server", "valkey", "valkey-server":
		return 6379
	case "postfix", "exim4", "opensmtpd":
		return 25
	case "vsftpd", "proftpd":
		return 21
	case "tomcat9", "tomcat10", "tomcat11", "jenkins":
		return 8080
	case "dnsmasq":
		return 53
	case "memcached":
		return 11211
	case "prometheus":
		return 9090
	case "prometheus-node-exporter", "node_exporter":
		return 9100
	case "grafana-server":
		return 3000
	case "squid":
		return 3128
	}
	return 0
}

// portWarning returns a text if the port that a service uses by default is in use by something else, which usually keeps
// the service from starting; "" otherwise, or if that is unknown.
func portWarning(v *host.View, want resources.Service) string {
	port := defaultPort(want.ServiceName())
	if port == 0 || want.Ensure != resources.ServiceRunning || v.Offline() != "" {
		return ""
	}
	sockets := listeners(v, port)
	if len(sockets) == 0 {
		return ""
	}
	processes, err := v.ReadDir("/proc")
	if err != nil {
		return ""
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p); err != nil || !holds(v, p, sockets) {
			continue
		}
		name, group := strings.TrimSpace(readText(v, path.Join("/proc", p, "comm"))), readText(v, path.Join("/proc", p, "cgroup"))
		if name != "" && group != "" && !strings.Contains(group, "/"+unitName(want.ServiceName())) {
			return fmt.Sprintf("port %d, which %s uses by default, is in use by %s (process %s)", port, want.ServiceName(), name, p)
		}
		return ""
	}
	return ""
}

// listeners returns the numbers of the TCP sockets that listen on a port, as proc_pid_net(5) has them: sl local_address
// rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ...
func listeners(v *host.View, port int) (inodes []string) {
	const listening = "0A"
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for line := range strings.Lines(readText(v, file)) {
			if f := strings.Fields(line); len(f) > 9 && f[3] == listening && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) {
				inodes = append(inodes, f[9])
			}
		}
	}
	return inodes
}

// holds reports whether a process has one of these sockets.
func holds(v *host.View, process string, inodes []string) bool {
	dir := path.Join("/proc", process, "fd")
	files, _ := v.ReadDir(dir) // the process may have ended
	for _, f := range files {
		target, _ := v.Readlink(path.Join(dir, f))
		if inode, ok := strings.CutPrefix(target, "socket:["); ok && slices.Contains(inodes, strings.TrimSuffix(inode, "]")) {
			return true
		}
	}
	return false
}

// readText returns a small file below /proc, "" if it cannot be read.
func readText(v *host.View, name string) string {
	text, _ := v.ReadText(name, 1<<20)
	return text
}
