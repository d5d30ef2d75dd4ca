package agent

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// metrics are served in the text format of Prometheus (exposition format 0.0.4), under the names
// of the agent of Choria CCM.
type metrics struct {
	mu        sync.Mutex
	families  map[string]*family
	resources map[[2]string]*resourceMetrics
	checks    map[checkKey]int
	others    int // resources without counts of their own
}

// A family is all series with one name.
type family struct {
	help   string
	kind   string // counter, gauge or summary
	labels []string
	series map[string]*series // by the values of the labels
}

type series struct {
	values []string
	count  float64
	sum    float64 // of a summary
}

// A resourceMetrics has the counts of one resource, in the order of resourceCounters.
type resourceMetrics struct {
	counts         [len(resourceCounters)]uint32
	provider       string
	appliedRelease uint32
	duration       float64 // seconds
}

// Counters of resources.
const (
	countTotal = iota
	countStable
	countChanged
	countRefreshed
	countFailed
	countError
	countSkipped
	countNoop
)

var resourceCounters = [...]struct{ name, help string }{
	countTotal:     {"resource_state_total_count", "Resources checked"},
	countStable:    {"resource_state_stable_count", "Resources found up to date"},
	countChanged:   {"resource_state_changed_count", "Resources changed"},
	countRefreshed: {"resource_state_refreshed_count", "Resources refreshed"},
	countFailed:    {"resource_state_failed_count", "Resources failed"},
	countError:     {"resource_state_error_count", "Resources with errors"},
	countSkipped:   {"resource_state_skipped_count", "Resources skipped"},
	countNoop:      {"resource_state_noop_count", "Resources planned in noop mode"},
}

type checkKey struct{ typ, name, check, status string }

// Names of families.
const (
	metricPrefix        = "choria_ccm_"
	metricManifest      = "manifest_apply_duration_seconds"
	metricResource      = "resource_apply_duration_seconds"
	metricCheckTime     = "healthcheck_duration_seconds"
	metricCheckStatus   = "healthcheck_status_count"
	metricFactsGather   = "facts_gather_duration_seconds"
	metricApply         = "agent_apply_duration_seconds"
	metricHealth        = "agent_healthcheck_duration_seconds"
	metricRemediations  = "agent_healthcheck_remediations_count"
	metricDataTime      = "agent_data_resolve_duration_seconds"
	metricDataErrors    = "agent_data_resolve_error_count"
	metricFactsTime     = "agent_facts_resolve_duration_seconds"
	metricFactsErrors   = "agent_facts_resolve_error_count"
	metricFetches       = "agent_manifest_fetch_count"
	metricFetchFailures = "agent_manifest_fetch_error_count"
	metricUnmanaged     = "agent_unmanaged_items"
)

// mostResources is the number of resources with counts of their own: new names each day must not
// fill the memory.
const mostResources = 20_000

func newMetrics() *metrics {
	m := &metrics{families: make(map[string]*family), resources: make(map[[2]string]*resourceMetrics), checks: make(map[checkKey]int)}
	for _, f := range []struct {
		name, kind, help string
		labels           []string
	}{
		{metricManifest, "summary", "Duration of runs of a script or manifest", []string{"source"}},
		{metricCheckTime, "summary", "Duration of runs with health checks", []string{"type", "name", "check"}},
		{metricFactsGather, "summary", "Time to gather facts", nil},
		{metricApply, "summary", "Duration of agent runs", []string{"manifest"}},
		{metricHealth, "summary", "Duration of agent health checks", []string{"manifests"}},
		{metricRemediations, "counter", "Runs triggered by health checks", []string{"manifest"}},
		{metricDataTime, "summary", "Time to fetch external data", nil},
		{metricDataErrors, "counter", "Failed fetches of external data", []string{"url"}},
		{metricFactsTime, "summary", "Time to resolve facts", nil},
		{metricFactsErrors, "counter", "Failed attempts to resolve facts", nil},
		{metricFetches, "counter", "New versions fetched", []string{"manifest"}},
		{metricFetchFailures, "counter", "Failed fetches", []string{"manifest"}},
		{metricUnmanaged, "gauge", "Items that no source describes", nil},
	} {
		m.families[f.name] = &family{help: f.help, kind: f.kind, labels: f.labels, series: make(map[string]*series)}
		if len(f.labels) == 0 && f.kind != "gauge" {
			m.add(f.name, 0, 0)
		}
	}
	return m
}

// add adds to a series. The caller holds m.mu, or has m for itself.
func (m *metrics) add(name string, count, sum float64, values ...string) {
	f := m.families[name]
	key := strings.Join(values, "\x00")
	s := f.series[key]
	if s == nil {
		s = &series{values: values}
		f.series[key] = s
	}
	s.count += count
	s.sum += sum
}

// count adds one to a counter.
func (m *metrics) count(name string, values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(name, 1, 0, values...)
}

// set sets a gauge.
func (m *metrics) set(name string, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.families[name].series[""] = &series{count: value}
}

// addDuration adds a duration to a summary.
func (m *metrics) addDuration(name string, d time.Duration, values ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(name, 1, d.Seconds(), values...)
}

// gatheredFacts counts one gathering of all facts.
func (m *metrics) gatheredFacts(took time.Duration, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(metricFactsTime, 1, took.Seconds())
	if err != nil {
		m.add(metricFactsErrors, 1, 0)
		return
	}
	m.add(metricFactsGather, 1, took.Seconds())
}

// countEvent counts an event.
func (m *metrics) countEvent(l *line) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{l.Type, l.Name}
	r := m.resources[key]
	if r == nil {
		if len(m.resources) >= mostResources {
			m.others++
			return
		}
		r = new(resourceMetrics)
		m.resources[key] = r
	}
	for i, is := range [len(resourceCounters)]bool{
		countTotal: true, countStable: l.Outcome == "stable", countChanged: l.Changed && !l.Noop, countRefreshed: l.Refreshed && !l.Noop,
		countFailed: l.Failed, countError: len(l.Errors) > 0, countSkipped: l.Skipped, countNoop: l.Noop,
	} {
		if is {
			r.counts[i]++
		}
	}
	if !l.Skipped {
		r.provider, r.appliedRelease, r.duration = l.Provider, r.appliedRelease+1, r.duration+l.Duration.Seconds()
	}
	for _, h := range l.checks() {
		if k := (checkKey{l.Type, l.Name, h.Name, h.Status}); m.checks[k] > 0 || len(m.checks) < mostResources {
			m.checks[k]++
			m.add(metricCheckTime, 1, h.Duration.Seconds(), l.Type, l.Name, h.Name)
		}
	}
}

// write writes all metrics.
func (m *metrics) write(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range names(m.families) {
		f := m.families[name]
		if len(f.series) == 0 {
			continue
		}
		header(w, name, f.kind, f.help)
		for _, key := range names(f.series) {
			s := f.series[key]
			labels := labelText(f.labels, s.values)
			if f.kind != "summary" {
				fmt.Fprintf(w, "%s%s%s %s\n", metricPrefix, name, labels, number(s.count))
				continue
			}
			fmt.Fprintf(w, "%s%s_sum%s %s\n", metricPrefix, name, labels, number(s.sum))
			fmt.Fprintf(w, "%s%s_count%s %s\n", metricPrefix, name, labels, number(s.count))
		}
	}
	m.writeResources(w)
	return m.writeChecks(w)
}

func (m *metrics) writeResources(w io.Writer) {
	keys := make([][2]string, 0, len(m.resources))
	for key := range m.resources {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for i, c := range resourceCounters {
		hasHeader := false
		for _, key := range keys {
			if n := m.resources[key].counts[i]; n > 0 {
				if !hasHeader {
					header(w, c.name, "counter", c.help)
					hasHeader = true
				}
				fmt.Fprintf(w, "%s%s%s %d\n", metricPrefix, c.name, labelText([]string{"type", "name"}, key[:]), n)
			}
		}
	}
	if len(keys) > 0 {
		header(w, metricResource, "summary", "Time to apply a resource")
	}
	for _, key := range keys {
		r := m.resources[key]
		labels := labelText([]string{"type", "provider", "name"}, []string{key[0], r.provider, key[1]})
		fmt.Fprintf(w, "%s%s_sum%s %s\n%s%s_count%s %d\n", metricPrefix, metricResource, labels, number(r.duration), metricPrefix, metricResource, labels, r.appliedRelease)
	}
}

func (m *metrics) writeChecks(w io.Writer) error {
	keys := make([]checkKey, 0, len(m.checks))
	for key := range m.checks {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b checkKey) int {
		return slices.Compare([]string{a.typ, a.name, a.check, a.status}, []string{b.typ, b.name, b.check, b.status})
	})
	if len(keys) > 0 {
		header(w, metricCheckStatus, "counter", "Health checks by status")
	}
	for _, k := range keys {
		labels := labelText([]string{"type", "name", "status", "check"}, []string{k.typ, k.name, k.status, k.check})
		fmt.Fprintf(w, "%s%s%s %d\n", metricPrefix, metricCheckStatus, labels, m.checks[k])
	}
	return nil
}

func header(w io.Writer, name, kind, help string) {
	fmt.Fprintf(w, "# HELP %s%s %s\n# TYPE %s%s %s\n", metricPrefix, name, help, metricPrefix, name, kind)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

var labelEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func labelText(names, values []string) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	for i, name := range names {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		fmt.Fprintf(&b, `%s%s="%s"`, sep, name, labelEscaper.Replace(strings.ToValidUTF8(values[i], "\uFFFD")))
	}
	return b.String() + "}"
}

// serve serves /metrics until the returned function is called.
func (m *metrics) serve(address string, port int) (stop func(), err error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("monitor_port: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		b := new(strings.Builder) // a slow reader must not keep the lock
		if m.write(b) == nil {
			_, _ = io.WriteString(w, b.String())
		}
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { _ = s.Serve(l) }()
	return func() { s.Close() }, nil
}
