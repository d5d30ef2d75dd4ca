package spec

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// A Machine is a system to which the site was applied.
type Machine interface {
	// Run runs a command as root.
	Run(ctx context.Context, argv []string) (Answer, error)
	// Dial connects to an address, HOST:PORT, from inside of the machine.
	Dial(ctx context.Context, address string) (net.Conn, error)
}

// machineMethods are the methods of machine.
var machineMethods = map[string]func(r *runner, L *lua.LState) lua.LValue{
	"command": (*runner).machineCommand, "port": (*runner).machinePort, "service": (*runner).machineService,
	"file": (*runner).machineFile, "http": (*runner).machineHTTP,
}

// machineTable returns the global machine.
func (r *runner) machineTable(L *lua.LState) lua.LValue {
	t, mt := L.CreateTable(0, 0), L.CreateTable(0, 1)
	mt.RawSetString("__index", L.NewFunction(func(L *lua.LState) int {
		name := L.Get(2).String()
		method := machineMethods[name]
		if method == nil {
			var names []string
			for known := range machineMethods {
				names = append(names, known)
			}
			r.in.Throw(L, diag.DidYouMean(name, names), "machine: %w", diag.Unknown("field", name, nil))
		}
		L.Push(L.NewFunction(func(L *lua.LState) int {
			if r.Machine == nil || !r.running {
				r.in.Throw(L, `put the test into describe("...", { system = true }, function() ... end)`, "machine: only tests with system = true have a machine")
			}
			if L.Get(1) != t {
				r.in.Throw(L, "machine:"+name+"(...)", "machine.%s: %w", name, diag.Expected("a call with a colon"))
			}
			L.Remove(1)
			L.Push(method(r, L))
			return 1
		}))
		return 1
	}))
	t.Metatable = mt
	return t
}

// runOnMachine runs a command. That it could not be run is an error of the test.
func (r *runner) runOnMachine(L *lua.LState, argv ...string) Answer {
	var a Answer
	var err error
	r.in.Outside(func() { a, err = r.Machine.Run(r.in.Context(), argv) })
	if err != nil {
		r.in.Throw(L, "", "machine: %w", err)
	}
	return a
}

func (r *runner) machineText(L *lua.LState, method, what string) string {
	s, ok := L.Get(1).(lua.LString)
	if !ok || s == "" {
		r.in.Throw(L, "", "machine:%s: %w", method, diag.Expected("%s", what).Got("%s", r.in.Show(L.Get(1))))
	}
	return string(s)
}

// machineCommand is machine:command(text): { stdout, stderr, code }.
func (r *runner) machineCommand(L *lua.LState) lua.LValue {
	a := r.runOnMachine(L, "sh", "-c", r.machineText(L, "command", "a command for the shell"))
	t := L.CreateTable(0, 3)
	t.RawSetString("stdout", lua.LString(a.Stdout))
	t.RawSetString("stderr", lua.LString(a.Stderr))
	t.RawSetString("code", lua.LNumber(a.Code))
	return t
}

// machineService is machine:service(name): { exists, running, enabled }.
func (r *runner) machineService(L *lua.LState) lua.LValue {
	name := r.machineText(L, "service", "the name of a service")
	a := r.runOnMachine(L, "systemctl", "show", "--property=LoadState,ActiveState,UnitFileState", "--", name)
	if a.Code != 0 {
		r.in.Throw(L, "", "machine:service: systemctl: %s", strings.TrimSpace(a.Stderr))
	}
	values := make(map[string]string)
	for line := range strings.Lines(a.Stdout) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[key] = value
	}
	t := L.CreateTable(0, 3)
	t.RawSetString("exists", lua.LBool(values["LoadState"] != "not-found"))
	t.RawSetString("running", lua.LBool(values["ActiveState"] == "active" || values["ActiveState"] == "reloading"))
	t.RawSetString("enabled", lua.LBool(strings.HasPrefix(values["UnitFileState"], "enabled")))
	return t
}

// machinePort is machine:port(number): { listening, addresses }.
func (r *runner) machinePort(L *lua.LState) lua.LValue {
	port, ok := L.Get(1).(lua.LNumber)
	if !ok || port < 1 || port > 65535 || port != lua.LNumber(int(port)) {
		r.in.Throw(L, "", "machine:port: %w", diag.Expected("a port from 1 to 65535").Got("%s", r.in.Show(L.Get(1))))
	}
	a := r.runOnMachine(L, "sh", "-c", "cat /proc/net/tcp /proc/net/tcp6 2>/dev/null")
	addresses := L.CreateTable(0, 0)
	for _, address := range listeners(a.Stdout, int(port)) {
		addresses.Append(lua.LString(address))
	}
	t := L.CreateTable(0, 2)
	t.RawSetString("listening", lua.LBool(addresses.Len() > 0))
	t.RawSetString("addresses", addresses)
	return t
}

// listeners returns the addresses that listen on a TCP port, from the text of /proc/net/tcp and tcp6.
func listeners(text string, port int) (list []string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != "0A" { // TCP_LISTEN
			continue
		}
		ip, number, _ := strings.Cut(fields[1], ":")
		n, err := strconv.ParseUint(number, 16, 16)
		raw, bad := hex.DecodeString(ip)
		if err != nil || bad != nil || int(n) != port || len(raw)%4 != 0 {
			continue
		}
		for i := 0; i+4 <= len(raw); i += 4 { // words in the order of the processor, which is little endian
			raw[i], raw[i+1], raw[i+2], raw[i+3] = raw[i+3], raw[i+2], raw[i+1], raw[i]
		}
		list = append(list, net.IP(raw).String())
	}
	return list
}

// machineFile is machine:file(path): { exists, type, mode, owner, group, size, target, content }.
func (r *runner) machineFile(L *lua.LState) lua.LValue {
	name := r.machineText(L, "file", "an absolute path")
	if !strings.HasPrefix(name, "/") {
		r.in.Throw(L, "", "machine:file: %w", diag.Expected("an absolute path").Got("%q", name))
	}
	const script = `[ -e "$1" ] || [ -L "$1" ] || exit 3
stat -c '%F|%a|%U|%G|%s' -- "$1" && { readlink -- "$1" || echo; } && { [ -L "$1" ] || [ ! -f "$1" ] || head -c 1048577 -- "$1"; }`
	a := r.runOnMachine(L, "sh", "-c", script, "sh", name)
	t := L.CreateTable(0, 8)
	t.RawSetString("exists", lua.LBool(a.Code != 3))
	if a.Code == 3 {
		return t
	}
	if a.Code != 0 {
		r.in.Throw(L, "", "machine:file: %s", strings.TrimSpace(a.Stderr))
	}
	state, rest, _ := strings.Cut(a.Stdout, "\n")
	target, content, _ := strings.Cut(rest, "\n")
	fields := strings.Split(state, "|")
	kind := map[string]string{"regular file": "file", "regular empty file": "file", "symbolic link": "link"}[fields[0]]
	if kind == "" {
		kind = fields[0]
	}
	t.RawSetString("type", lua.LString(kind))
	t.RawSetString("mode", lua.LString(fmt.Sprintf("%04s", fields[1])))
	t.RawSetString("owner", lua.LString(fields[2]))
	t.RawSetString("group", lua.LString(fields[3]))
	size, _ := strconv.ParseInt(fields[4], 10, 64)
	t.RawSetString("size", lua.LNumber(size))
	if kind == "link" {
		t.RawSetString("target", lua.LString(target))
	}
	if kind == "file" && size <= 1<<20 {
		t.RawSetString("content", lua.LString(content))
	}
	return t
}

// machineHTTP is machine:http(url): { status, body, headers }. Certificates are those of the tested machine, and are
// not checked; redirects are not followed.
func (r *runner) machineHTTP(L *lua.LState) lua.LValue {
	url := r.machineText(L, "http", "an http or https URL")
	var status int
	var body []byte
	var header http.Header
	var err error
	r.in.Outside(func() { status, body, header, err = r.fetch(url) })
	if err != nil {
		fail(r.in, L, "Expected a response from %s.\nError:\n%s", url, err)
	}
	headers := L.CreateTable(0, len(header))
	for name := range header {
		headers.RawSetString(strings.ToLower(name), lua.LString(header.Get(name)))
	}
	t := L.CreateTable(0, 3)
	t.RawSetString("status", lua.LNumber(status))
	t.RawSetString("body", lua.LString(body))
	t.RawSetString("headers", headers)
	return t
}

// fetch sends a request from inside of the machine.
func (r *runner) fetch(url string) (int, []byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(r.in.Context(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, nil, err
	}
	transport := &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: unchecked(),
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return r.Machine.Dial(ctx, address) },
	}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, body, response.Header, err
}

// unchecked is for services with a certificate that only their users know.
func unchecked() *tls.Config { return &tls.Config{InsecureSkipVerify: true} } //nolint:gosec // a test looks at the answer
