package testsystem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/luaccm/ccm/runtime/diag"
)

// A proxy gives a system without a network HTTP and HTTPS. It listens on the loopback of the system, and connects from
// the host: so services of the system and of the host do not meet, and no rules of a firewall are needed. It caches
// packages.
type proxy struct{ server *http.Server }

const proxyAddress = "127.0.0.1:3128"

// startProxy starts the proxy of a system.
func (s *nspawnSystem) startProxy() error {
	if s.proxy != nil {
		return nil
	}
	l, err := listenIn(s.init, proxyAddress)
	if err != nil {
		return diag.Cannot("listen in", "the system", err)
	}
	packages, err := s.record.pool.packages()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	p := new(proxy)
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodConnect:
			tunnel(w, r)
		case r.URL.IsAbs():
			packages.ServeHTTP(w, r)
		default:
			http.Error(w, "this is a proxy", http.StatusBadRequest)
		}
	})}
	go func() { _ = p.server.Serve(l) }()
	s.proxy = p
	return nil
}

func (s *nspawnSystem) stopProxy() {
	if s.proxy != nil {
		_ = s.proxy.server.Close()
		s.proxy = nil
	}
}

// environ returns the variables that programs find the proxy by.
func (*proxy) environ() []string {
	const url, local = "http://" + proxyAddress, "localhost,127.0.0.1,::1"
	return []string{"http_proxy=" + url, "https_proxy=" + url, "HTTPS_PROXY=" + url, "no_proxy=" + local, "NO_PROXY=" + local}
}

// tunnel connects a client with the host that it asks for.
func tunnel(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	there, err := new(net.Dialer).DialContext(ctx, "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	w.WriteHeader(http.StatusOK)
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	go func() {
		_, _ = io.Copy(there, buffered)
		if c, ok := there.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
	}()
	_, _ = io.Copy(here, there)
}

// listenIn listens in the network namespace of a process.
func listenIn(pid int, address string) (net.Listener, error) {
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err != nil {
		return nil, err
	}
	defer ns.Close()
	type result struct {
		l   net.Listener
		err error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- result{nil, err}
			return
		}
		l, err := net.Listen("tcp", address)
		done <- result{l, err}
	}()
	r := <-done
	if errors.Is(r.err, unix.EADDRINUSE) {
		return nil, diag.Already("port "+address, "taken: %w", r.err)
	}
	return r.l, r.err
}
