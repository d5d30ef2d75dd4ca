package registration

import (
	"cmp"
	"encoding/json"
	"net"
	"slices"
	"strconv"
	"strings"
)

// Entries are the results of a query of the registry.
type Entries []*Entry

// Sort sorts by address, then by port.
func (list Entries) Sort() {
	slices.SortStableFunc(list, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.portNumber(), b.portNumber()), cmp.Compare(a.Subject(), b.Subject()))
	})
}

// Plain returns the entries as plain data with the names of JSON. Empty fields are left out.
func (list Entries) Plain() any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e.Plain()
	}
	return out
}

// Plain returns the entry as plain data with the names of JSON.
func (e *Entry) Plain() any {
	annotations := make(map[string]any, len(e.Annotations))
	for name, val := range e.Annotations {
		annotations[name] = val
	}
	table := map[string]any{
		"cluster": e.Cluster, "service": e.Service, "protocol": e.Protocol, "address": e.Address, "priority": e.Priority, "annotations": annotations,
	}
	if e.Port != nil {
		table["port"] = e.Port
	}
	if e.TTL != nil {
		table["ttl"] = e.TTL.String()
	}
	return table
}

func (e *Entry) portNumber() int64 {
	port, _ := e.Port.(int64)
	return port
}

func joinPort(address string, port int64) string {
	return net.JoinHostPort(address, strconv.FormatInt(port, 10))
}

// scrape is the annotation that says whether Prometheus should read metrics from a service.
const scrape = "prometheus.io/scrape"

// A targetGroup is a target group in a file of Prometheus
// (https://prometheus.io/docs/prometheus/latest/configuration/configuration/#file_sd_config).
type targetGroup struct {
	Labels  map[string]string `json:"labels"`
	Targets []string          `json:"targets"`
}

// PrometheusFileSD returns the entries as JSON for the file-based service discovery of Prometheus (file_sd_config).
// There is one group for each cluster, service and protocol, with the annotations of its first entry as labels. An
// entry is included if it has a port and its annotation prometheus.io/scrape is true. Without this annotation, it is included
// if its service or protocol is prometheus.
func (list Entries) PrometheusFileSD() (string, error) {
	type key struct{ cluster, service, protocol string }
	groups := make(map[key]*targetGroup)
	order := []*targetGroup{}
	for _, e := range list {
		said, ok := e.Annotations[scrape]
		wanted := said == "true" || !ok && (e.Service == "prometheus" || e.Protocol == "prometheus")
		if !wanted || e.portNumber() == 0 {
			continue
		}
		k := key{e.Cluster, e.Service, e.Protocol}
		g := groups[k]
		if g == nil {
			g = &targetGroup{Labels: map[string]string{"cluster": e.Cluster, "service": e.Service, "protocol": e.Protocol}}
			for name, val := range e.Annotations {
				if val != "" && isLabel(name) {
					g.Labels[name] = val
				}
			}
			groups[k], order = g, append(order, g)
		}
		g.Targets = append(g.Targets, joinPort(e.Address, e.portNumber()))
	}
	text, err := json.MarshalIndent(order, "", "  ")
	return string(text), err
}

// isLabel reports whether a text can be the name of a label that Prometheus does not reserve.
func isLabel(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "__")
}
