package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/identity"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/test/fleet/crowd"
)

// servers are three nats-servers on this machine, and the directory of their fleet.
type servers struct {
	ccm, nats string // programs
	disk      string // data of the servers
	memory    string // everything else
	ports     []string
	running   map[string]*exec.Cmd // by port
}

// newServers builds the programs, and prepares the directories.
func newServers(dir string) (*servers, error) {
	s := &servers{running: make(map[string]*exec.Cmd)}
	var err error
	if s.disk, err = os.MkdirTemp(dir, "bench-fleet-"); err != nil {
		return nil, err
	}
	shared := "/dev/shm"
	if _, err := os.Stat(shared); err != nil {
		shared = ""
	}
	if s.memory, err = os.MkdirTemp(shared, "bench-fleet-"); err != nil {
		return nil, err
	}
	s.ccm, s.nats = filepath.Join(s.disk, "ccm"), filepath.Join(s.disk, "nats-server")
	for _, b := range []struct{ from, out, pkg string }{{"../..", s.ccm, "./cmd/ccm"}, {".", s.nats, "github.com/nats-io/nats-server/v2"}} {
		cmd := exec.Command("go", "build", "-o", b.out, b.pkg)
		cmd.Dir, cmd.Stderr = b.from, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("building %s (start in test/fleet): %w", b.pkg, err)
		}
	}
	return s, nil
}

// end stops the servers, and removes all files.
func (s *servers) end() {
	for port := range s.running {
		s.kill(port)
	}
	os.RemoveAll(s.disk)
	os.RemoveAll(s.memory)
}

func (s *servers) directory() string { return filepath.Join(s.memory, "fleet") }

// init makes the fleet, and starts its servers.
func (s *servers) init() (*identity.Directory, error) {
	args := []string{"fleet", "init", s.directory(), "--config-dir", s.directory(), "--store-dir", filepath.Join(s.disk, "store"),
		"--events-size", "4GiB", "--jobs-size", "64MiB", "--sites-size", "1GiB", "--environment", crowd.Environment}
	for range 3 {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s.ports = append(s.ports, port)
		args = append(args, "--server", "127.0.0.1:"+port)
	}
	if _, err := s.run(context.Background(), args...); err != nil {
		return nil, err
	}
	for _, port := range s.ports {
		if err := s.start(port); err != nil {
			return nil, err
		}
	}
	return identity.Open(s.directory(), host.New(host.Options{Clock: host.RealClock{}}))
}

// apply makes the streams, and stores the operators' documents.
func (s *servers) apply(ctx context.Context) error {
	for {
		_, err := s.run(ctx, "fleet", "init", s.directory(), "--apply")
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(200 * time.Millisecond) // until they have elected a leader
	}
}

// config returns the configuration file of a server.
func (s *servers) config(port string) string {
	return filepath.Join(s.directory(), "127.0.0.1-"+port, "nats.conf")
}

// start starts a server.
func (s *servers) start(port string) error {
	log, err := os.OpenFile(filepath.Join(s.memory, port+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(s.nats, "-c", s.config(port))
	cmd.Stdout, cmd.Stderr = log, log
	s.running[port] = cmd
	return cmd.Start()
}

// kill ends a server as a power cut does.
func (s *servers) kill(port string) {
	if cmd := s.running[port]; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		delete(s.running, port)
	}
}

// run runs ccm as the operator, and returns its output.
func (s *servers) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.ccm, args...)
	cmd.Env = append(os.Environ(), "CCM_FLEET="+s.directory(), "NO_COLOR=1", "XDG_CONFIG_HOME="+s.memory, "CCM_STATE_DIR="+filepath.Join(s.memory, "state"), "CCM_CACHE_DIR="+filepath.Join(s.memory, "cache"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("ccm %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return string(out), err
}

// restartWithoutAccounts starts the servers anew without data, accounts and permissions.
func (s *servers) restartWithoutAccounts() error {
	for _, port := range s.ports {
		s.kill(port)
	}
	if err := os.RemoveAll(filepath.Join(s.disk, "store")); err != nil {
		return err
	}
	for _, port := range s.ports {
		file := s.config(port)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		before, rest, ok := strings.Cut(string(text), "\noperator: ")
		_, after, closed := strings.Cut(rest, "\ncluster {")
		if !ok || !closed {
			return fmt.Errorf("%s: expected an operator, and then a cluster", file)
		}
		if err := os.WriteFile(file, []byte(before+"\ncluster {"+after), 0o600); err != nil {
			return err
		}
		if err := s.start(port); err != nil {
			return err
		}
	}
	return nil
}

// memoryOf returns the memory of the largest server in bytes (proc_pid_status(5), VmRSS).
func (s *servers) memoryOf() (most float64) {
	for _, cmd := range s.running {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				most = max(most, kib*1024)
			}
		}
	}
	return most
}

// processor returns the processor time of the servers in seconds (proc_pid_stat(5)).
func (s *servers) processor() (seconds float64) {
	const ticks = 100 // USER_HZ of Linux
	for _, cmd := range s.running {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 12 {
			user, _ := strconv.ParseFloat(f[11], 64)
			system, _ := strconv.ParseFloat(f[12], 64)
			seconds += (user + system) / ticks
		}
	}
	return seconds
}

// diskOf returns the size of the largest server's data in bytes.
func (s *servers) diskOf() (most float64) {
	for _, port := range s.ports {
		var sum float64
		_ = filepath.Walk(filepath.Join(s.disk, "store", "127.0.0.1-"+port), func(_ string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				sum += float64(info.Size())
			}
			return nil
		})
		most = max(most, sum)
	}
	return most
}

// freePort returns a free port whose derived ports of ccm fleet init are free too.
func freePort() (string, error) {
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		port := first.Addr().(*net.TCPAddr).Port
		free := port < 60000
		for _, p := range []int{port + 2000, port + 4000} {
			other, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
			if err != nil {
				free = false
				continue
			}
			other.Close()
		}
		first.Close()
		if free {
			return strconv.Itoa(port), nil
		}
	}
	return "", errors.New("no free ports")
}
