// Command services reads the states of services in both ways of the systemd provider, and prints them as JSON.
//
//	services NAME...
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
	"sync/atomic"

	"github.com/luaccm/ccm/providers/systemd"
	"github.com/luaccm/ccm/resources"
	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/host/command"
	"github.com/luaccm/ccm/runtime/host/systembus"
)

// An Observation is the state of a service, read in one way.
type Observation struct {
	State any
	Err   string
}

// A Service is a service with both observations.
type Service struct {
	Name         string
	Bus, Command Observation
}

// A Report has all services, and the number of calls of systemctl show: with the bus, and without it.
type Report struct {
	Services        []Service
	Shows, Commands int
}

func main() {
	names := os.Args[1:]
	report := Report{Services: make([]Service, len(names))}
	byCommand, commands := look(names, noBus{})
	byBus, shows := look(names, nil)
	for i, name := range names {
		report.Services[i] = Service{name, byBus[i], byCommand[i]}
	}
	report.Shows, report.Commands = shows, commands
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		log.Fatal(err)
	}
}

// look reads the states of all services.
func look(names []string, bus systembus.Bus) (seen []Observation, shows int) {
	var r counter
	h := host.New(host.Options{Runner: &r, Bus: bus})
	wants := make([]any, len(names))
	for i, name := range names {
		wants[i] = &resources.Service{Name: name, Ensure: resources.ServiceRunning}
	}
	states, errs := systemd.Providers()[0].StatusAll(context.Background(), &h.View, wants)
	seen = make([]Observation, len(names))
	for i := range names {
		seen[i].State = states[i]
		if errs[i] != nil {
			seen[i].Err = errs[i].Error()
		}
	}
	return seen, int(r.shows.Load())
}

// noBus is a machine without a system bus.
type noBus struct{}

// Call implements host.Bus.
func (noBus) Call(context.Context, []systembus.Call) ([]systembus.Reply, error) {
	return nil, errors.New("there is none here")
}

// counter runs commands, and counts those that read the states of units.
type counter struct {
	command.Exec
	shows atomic.Int32
}

// Run implements host.Runner.
func (c *counter) Run(ctx context.Context, cmd host.Cmd) (host.Result, error) {
	if len(cmd.Argv) > 1 && cmd.Argv[1] == "show" {
		c.shows.Add(1)
	}
	return c.Exec.Run(ctx, cmd)
}
