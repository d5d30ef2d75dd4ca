package registration_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/registration"
)

// web returns a valid entry, changed by change.
func web(change func(*registration.Entry)) *registration.Entry {
	ttl := registration.NewTTL(10 * time.Minute)
	e := &registration.Entry{
		Cluster: "production", Service: "web", Protocol: "http", Address: "10.0.0.5", Port: int64(8080), Priority: 10, TTL: &ttl,
		Annotations: map[string]string{"version": "1.2.3", "a<b": "&"},
	}
	if change != nil {
		change(e)
	}
	return e
}

// TestWire: subjects and JSON are those of Choria CCM, byte for byte. The hashes were computed independently, by the
// definition of FNV-1a with 64 bits.
func TestWire(t *testing.T) {
	e := web(nil)
	require.NoError(t, e.Check())
	require.Equal(t, "choria.ccm.registration.v1.production.http.web.10_0_0_5.d097567f5aa3133c", e.Subject())
	text, err := json.Marshal(e)
	require.NoError(t, err)
	require.Equal(t, `{"cluster":"production","service":"web","protocol":"http","address":"10.0.0.5","port":8080,"priority":10,`+
		`"annotations":{"a\u003cb":"\u0026","version":"1.2.3"},"ttl":"10m0s"}`, string(text))
	back, err := registration.Decode(e.Subject(), text)
	require.NoError(t, err)
	require.Equal(t, e, back)

	bare := web(func(e *registration.Entry) { e.Port, e.TTL, e.Annotations = nil, nil, nil })
	text, err = json.Marshal(bare)
	require.NoError(t, err)
	require.Equal(t, `{"cluster":"production","service":"web","protocol":"http","address":"10.0.0.5","port":null,"priority":10}`, string(text))
	require.Equal(t, "7dd9c4048883b944", bare.Instance())
	back, err = registration.Decode(bare.Subject(), text)
	require.NoError(t, err)
	require.Equal(t, bare, back)
	require.Equal(t, "production/http/web at 10.0.0.5", bare.String())

	six := web(func(e *registration.Entry) { e.Address = "2001:db8::1" })
	require.NoError(t, six.Check())
	require.Contains(t, six.Subject(), ".web.2001:db8::1.")
	require.Equal(t, "production/http/web at [2001:db8::1]:8080", six.String())
}

// TestCheck: an invalid entry has an error that names the field.
func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*registration.Entry){
		`cluster: expected a name of letters, digits, - and _ that begins with a letter, got ""`:    func(e *registration.Entry) { e.Cluster = "" },
		`cluster: expected a name of letters, digits, - and _ that begins with a letter, got "a.b"`: func(e *registration.Entry) { e.Cluster = "a.b" },
		`service: expected a name of letters, digits, - and _ that begins with a letter, got "9"`:   func(e *registration.Entry) { e.Service = "9" },
		`protocol: expected a name of letters, digits, - and _ that begins with a letter, got ">"`:  func(e *registration.Entry) { e.Protocol = ">" },
		`address: expected an IP address or host name, got "10.0.0.500"`:                            func(e *registration.Entry) { e.Address = "10.0.0.500" },
		`address: expected an IP address or host name, got "fe80::1%eth0"`:                          func(e *registration.Entry) { e.Address = "fe80::1%eth0" },
		`address: expected an IP address or host name, got "x y"`:                                   func(e *registration.Entry) { e.Address = "x y" },
		`address: expected an IP address or host name, got "a..b"`:                                  func(e *registration.Entry) { e.Address = "a..b" },
		`address: expected an IP address or host name, got "a;reboot"`:                              func(e *registration.Entry) { e.Address = "a;reboot" },
		`port: must be 1 to 65535, got 0`:                                                           func(e *registration.Entry) { e.Port = int64(0) },
		`port: must be 1 to 65535, got 65536`:                                                       func(e *registration.Entry) { e.Port = int64(65536) },
		`priority: must be 1 to 255, got 256`:                                                       func(e *registration.Entry) { e.Priority = 256 },
		`ttl: must be at least 1s, got 10ms`: func(e *registration.Entry) {
			ttl := registration.NewTTL(10 * time.Millisecond)
			e.TTL = &ttl
		},
	} {
		require.EqualError(t, web(change).Check(), want)
	}
	for _, address := range []string{"db1", "db-1.example.net", "::1", "192.0.2.1", "1a.example"} {
		require.NoError(t, web(func(e *registration.Entry) { e.Address = address }).Check(), address)
	}
}

// TestTTL: a TTL is a text, or a number of nanoseconds as Go writes durations.
func TestTTL(t *testing.T) {
	for text, want := range map[string]string{`"10m"`: "10m0s", `"1d"`: "24h0m0s", `"2w"`: "336h0m0s", `"never"`: "never", `60000000000`: "1m0s", `null`: ""} {
		var ttl registration.TTL
		require.NoError(t, json.Unmarshal([]byte(text), &ttl), text)
		require.Equal(t, want, ttl.String())
	}
	for _, text := range []string{`"x"`, `"10"`, `"0s"`, `"-1h"`, `true`, `-1`, `"d"`} {
		require.Error(t, json.Unmarshal([]byte(text), new(registration.TTL)), text)
	}
}

// TestDecode: an entry is refused if it is invalid or does not fit its subject.
func TestDecode(t *testing.T) {
	text, err := json.Marshal(web(nil))
	require.NoError(t, err)
	subject := web(nil).Subject()
	for name, x := range map[string]struct{ subject, text, want string }{
		"no JSON":                   {subject, "x", "not an entry"},
		"a list":                    {subject, "[]", "not an entry"},
		"nothing":                   {subject, "null", "cluster: expected a name"},
		"a port as text":            {subject, strings.Replace(string(text), "8080", `"8080"`, 1), "not an entry"},
		"half a port":               {subject, strings.Replace(string(text), "8080", "80.5", 1), "not an entry"},
		"an address as code":        {subject, strings.Replace(string(text), "10.0.0.5", "10.0.0.5\\n}", 1), "address: expected an IP address"},
		"another's":                 {strings.Replace(subject, "10_0_0_5", "10_0_0_6", 1), string(text), "entry does not match its subject: production/http/web at 10.0.0.5:8080"},
		"of another cluster":        {strings.Replace(subject, "production", "test", 1), string(text), "entry does not match its subject"},
		"not a subject of an entry": {"", string(text), "entry does not match its subject"},
		"much":                      {subject, strings.Repeat(" ", 100_000), "entry exceeds the limit of 65536 bytes"},
	} {
		_, err := registration.Decode(x.subject, []byte(x.text))
		require.ErrorContains(t, err, x.want, name)
	}
	// The last token may be another one: the agent of a fleet puts the name of its node there.
	_, err = registration.Decode(strings.Replace(subject, "d097567f5aa3133c", "web1", 1), text)
	require.NoError(t, err)
}

func FuzzDecode(f *testing.F) {
	text, _ := json.Marshal(web(nil))
	f.Add(web(nil).Subject(), string(text))
	f.Fuzz(func(t *testing.T, subject, text string) {
		e, err := registration.Decode(subject, []byte(text))
		if err != nil {
			return
		}
		require.NoError(t, e.Check())
		again, err := json.Marshal(e)
		require.NoError(t, err)
		back, err := registration.Decode(e.Subject(), again)
		require.NoError(t, err)
		require.Equal(t, e.String(), back.String())
		_, err = registration.Entries{e}.PrometheusFileSD()
		require.NoError(t, err)
	})
}

// TestQuery: * and "" match anything, and other wildcards are refused.
func TestQuery(t *testing.T) {
	require.Equal(t, "choria.ccm.registration.v1.*.*.*.*.*", registration.Query{}.Filter())
	q := registration.Query{Cluster: "p", Protocol: "*", Service: "web", Address: "10.0.0.1"}
	require.Equal(t, "choria.ccm.registration.v1.p.*.web.10_0_0_1.*", q.Filter())
	require.NoError(t, q.Check())
	require.ErrorContains(t, registration.Query{Cluster: ">"}.Check(), "cluster: expected a name")
	require.ErrorContains(t, registration.Query{Address: "a b"}.Check(), "address: expected an IP address")
}

// TestPrometheus: the entries that Prometheus reads, and their labels.
func TestPrometheus(t *testing.T) {
	entry := func(service, address string, port any, annotations map[string]string) *registration.Entry {
		return &registration.Entry{Cluster: "c", Service: service, Protocol: "http", Address: address, Port: port, Priority: 1, Annotations: annotations}
	}
	yes, no := map[string]string{"prometheus.io/scrape": "true", "zone": "a", "empty": "", "__x": "y", "with-dash": "z"}, map[string]string{"prometheus.io/scrape": "no"}
	text, err := registration.Entries{
		entry("web", "10.0.0.1", int64(80), yes), entry("web", "fd00::1", int64(80), yes), entry("web", "10.0.0.3", int64(80), nil), entry("web", "10.0.0.4", nil, yes),
		entry("prometheus", "10.0.0.5", int64(9090), nil), entry("prometheus", "10.0.0.6", int64(9090), no),
	}.PrometheusFileSD()
	require.NoError(t, err)
	require.Equal(t, `[
  {
    "labels": {
      "cluster": "c",
      "protocol": "http",
      "service": "web",
      "zone": "a"
    },
    "targets": [
      "10.0.0.1:80",
      "[fd00::1]:80"
    ]
  },
  {
    "labels": {
      "cluster": "c",
      "protocol": "http",
      "service": "prometheus"
    },
    "targets": [
      "10.0.0.5:9090"
    ]
  }
]`, text)
	text, err = registration.Entries(nil).PrometheusFileSD()
	require.NoError(t, err)
	require.Equal(t, "[]", text)
}
