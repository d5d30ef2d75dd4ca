package main

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// A peer is another program that brings machines to a state.
type peer struct {
	name   string
	binary string
	about  string // what it says its version is
	// single says that it is one binary, which is copied like that of ccm.
	single bool
	// fast peers are given 10,000 files too.
	fast bool
	// ask makes it say its version.
	ask []string
	// file is the name of what it reads; its suffix matters to some.
	file string
	// argv is what it is started with, after its name.
	argv func(file, dir string) []string
	// text writes down what is wanted.
	text func(b *bench, w any) string
	// idle is how long it waits at its end for nothing.
	idle time.Duration
}

// What is wanted of peers.
type (
	emptyWork struct{}
	fileWork  struct{ files files }
	execWork  struct{ guards []string }
	bigWork   struct{ source, target string }
)

// allPeers are the peers that are known, in the order of the table.
func allPeers(o options) []*peer {
	return []*peer{{
		name: "gru", binary: o.gru, ask: []string{"--version"}, single: true, fast: true, file: "gru.lua", text: gruText,
		// It looks for sources below the repository.
		argv: func(file, _ string) []string { return []string{"apply", "--siterepo", "/", file} },
	}, {
		name: "CFEngine", binary: "cf-agent", ask: []string{"--version"}, fast: true, file: "bench.cf", text: cfengineText,
		argv: func(file, _ string) []string { return []string{"-KIf", file} },
	}, {
		name: "Choria CCM", binary: o.choria, ask: []string{"--version"}, single: true, file: "choria.yaml", text: choriaText,
		argv: func(file, _ string) []string { return []string{"apply", file} },
	}, {
		name: "mgmt", binary: "mgmt", ask: []string{"--version"}, file: "bench.mcl", text: mgmtText, idle: time.Second,
		argv: func(file, _ string) []string {
			return []string{"run", "--tmp-prefix", "--no-pgp", "--converger-timeout=1", "--converged-exit", "lang", file}
		},
	}, {
		name: "Puppet", binary: "puppet", ask: []string{"--version"}, file: "bench.pp", text: puppetText,
		// A state of its own: it loads the record of everything it ever applied.
		argv: func(file, dir string) []string { return []string{"apply", "--vardir", dir, file} },
	}, {
		name: "Ansible", binary: "ansible-playbook", ask: []string{"--version"}, file: "bench.yml", text: ansibleText,
		argv: func(file, _ string) []string { return []string{"-c", "local", "-i", "localhost,", file} },
	}}
}

// findPeers returns the peers that are installed.
func findPeers(o options) []*peer {
	var list []*peer
	for _, p := range allPeers(o) {
		if p.binary == "" {
			continue
		}
		path, err := exec.LookPath(p.binary)
		if err != nil {
			continue
		}
		p.binary = path
		if out, err := exec.Command(path, p.ask...).Output(); err == nil {
			p.about, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
		}
		list = append(list, p)
	}
	return list
}

// peer returns an installed peer by its name, or nil.
func (b *bench) peer(name string) *peer {
	for _, p := range b.peers {
		if p.name == name {
			return p
		}
	}
	return nil
}

// peerSide returns a peer at some work.
func (b *bench) peerSide(p *peer, kind string, at *place, w any) *side {
	s := &side{name: p.name, peer: true, idle: p.idle}
	file, err := b.write(kind+"-"+p.file, p.text(b, w))
	if err != nil {
		s.fault = err
		return s
	}
	s.argv = append([]string{p.binary}, p.argv(file, at.path("peer-state"))...)
	return s
}

// peerTimes lists what peers took.
func peerTimes(sides []*side) string {
	var words []string
	for _, s := range sides {
		switch {
		case len(s.runs) > 0:
			words = append(words, fmt.Sprintf("%s %s", s.name, number(s.ms())))
		case s.fault != nil && strings.Contains(s.fault.Error(), "more than"):
			words = append(words, fmt.Sprintf("%s over %s", s.name, peerLimit))
		default:
			words = append(words, s.name+" failed")
		}
	}
	return strings.Join(words, ", ")
}
