package template

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJinja(t *testing.T) {
	vars := map[string]any{
		"foo": "bar", "nameservers": []any{"8.8.8.8", "8.8.4.4"}, "dns": map[string]any{"domain": "example.com"}, "port": int64(53),
	}
	read := func(path string) ([]byte, error) {
		if path == "/site/part.conf" {
			return []byte("part {{ foo }}"), nil
		}
		return nil, fs.ErrNotExist
	}
	for _, tt := range []struct{ text, want, fail string }{
		{text: "The value of the foo constant is {{foo}}\n\n{% for ns in nameservers %}\nnameserver {{ns}}\n{% endfor %}\n\nsearch {{dns.domain}}\n",
			want: "The value of the foo constant is bar\n\n\nnameserver 8.8.8.8\n\nnameserver 8.8.4.4\n\n\nsearch example.com"},
		{text: "{{ dns['domain'] }} {{ nameservers[0] }} {{ port }}", want: "example.com 8.8.8.8 53"},
		{text: "{{ nope|default('d') }}{% if nope is defined %}x{% endif %}", want: "d"},
		{text: "{% include 'part.conf' %}!", want: "part bar!"},
		{text: "<{{ foo }}> & {{ '<' }}", want: "<bar> & <"},
		{text: "a\n{{ nope }}\n", fail: `/site/t.conf:2: unknown name "nope"`},
		{text: "a\n\n{% iff %}\n", fail: "/site/t.conf:3:4: ControlStructure 'iff' not found"},
		{text: "a\n{{ \n", fail: "/site/t.conf:2:4: expected either a number, string, keyword or identifier"},
		{text: "a\n{{ dns.nope }}\n", fail: "/site/t.conf:2: dns.nope: Unable to evaluate dns.nope: attribute 'nope' not found"},
	} {
		got, err := Jinja("/site/t.conf", tt.text, vars, read, nil)
		if tt.fail != "" {
			require.ErrorContains(t, err, tt.fail)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, got, tt.text)
	}
}

// Every time that a body is executed counts.
func TestJinjaSteps(t *testing.T) {
	r := &rendering{file: "/site/t.conf", text: "{% for i in range(1000) %}{% endfor %}", steps: maxSteps - 1000}
	_, err := r.render(nil)
	require.ErrorContains(t, err, "it takes more than 1000000 steps, which is the limit")
	r.reads, r.steps = 0, maxSteps-2000
	_, err = r.render(nil)
	require.NoError(t, err)
}
