package manifest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRender(t *testing.T) {
	w := newWorld(t, nil)
	m, err := w.load(t, "m.yaml", `
data:
  package_name: httpd
  evil: "${ '${ x }' }"
hierarchy: {order: ["os:${ Facts.os.family }"]}
overrides: {os:debian: {package_name: apache2}}
ccm:
  fail_on_error: true
  pre_message: "Hello\n"
  resources:
    - package:
        - "${ lookup('data.package_name') }":
            ensure: latest
        - zsh: {control: {if: "false"}}
    - package:
        name: tar
    - file:
        - defaults: {owner: root, mode: 0644}
        - /etc/motd:
            mode: "0600"
            content: |
              on ${ Facts.os.family }
              ${ Data.evil } {{ '{{' }}
        - /etc/version: {content: "1.10", group: 007}
    - exec:
        - go: {returns: [0, 2], any: {deep: [{x: y}], none: , empty: {}}}
`)
	require.NoError(t, err)
	out, err := m.Render()
	require.NoError(t, err)
	require.Equal(t, `data:
  evil: ${ '${' } x }
  package_name: apache2
ccm:
  fail_on_error: true
  pre_message: |
    Hello
  resources:
    - package:
        - apache2:
            ensure: latest
        - zsh:
            control: {if: false}
        - tar: {}
    - file:
        - /etc/motd:
            mode: "0600"
            content: |
              on debian
              ${ '${' } x } ${ '{{' }
            owner: root
        - /etc/version:
            content: "1.10"
            group: 007
            owner: root
            mode: 0644
    - exec:
        - go:
            returns:
              - 0
              - 2
            any:
              deep:
                - x: y
              none: null
              empty: {}
`, string(out))
}

// TestRenderedManifestsDeclareTheSame loads rendered manifests.
func TestRenderedManifestsDeclareTheSame(t *testing.T) {
	for _, text := range goodManifests(t) {
		one := newWorld(t, nil)
		m, err := one.load(t, "m.yaml", text)
		require.NoError(t, err)
		out, err := m.Render()
		require.NoError(t, err)
		two := newWorld(t, nil)
		again, err := two.load(t, "m.yaml", string(out))
		require.NoError(t, err, string(out))
		sameCatalog(t, one, two)
		require.Equal(t, m.Data, again.Data)
		require.Equal(t, []any{m.FailOnError, m.PreMessage, m.PostMessage}, []any{again.FailOnError, again.PreMessage, again.PostMessage})
		final, err := again.Render()
		require.NoError(t, err)
		require.Equal(t, string(out), string(final))
	}
}

// sameCatalog compares the catalogs of two worlds.
func sameCatalog(t *testing.T, one, two *world) {
	t.Helper()
	managed := func(w *world) (out []any) {
		for _, r := range w.Resources() {
			if r.Skip == "" {
				out = append(out, []any{r.ID, r.Spec, r.Common})
			}
		}
		return out
	}
	require.Equal(t, managed(one), managed(two))
}
