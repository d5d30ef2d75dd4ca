package forecast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host/overlay"
	"github.com/luaccm/ccm/runtime/resource"
)

func TestNamesInTexts(t *testing.T) {
	for _, x := range []struct {
		text, name string
		want       bool
	}{
		{"mkdir /srv/app", "app", true}, {"mkdir /srv/application", "app", false}, {"mkdir /srv/myapp", "app", false},
		{"xapp-app", "app", false}, {"apapp app", "app", true}, {"app.conf", "app", true}, {"app.conf", "conf", false},
		{"a b", "a b", true}, {"xa a b", "a b", true}, {"app", "a", false}, {"", "app", false}, {"app", "", false},
	} {
		require.Equal(t, x.want, hasWord(x.text, x.name, false), "%q %q", x.text, x.name)
	}
	for _, x := range []struct {
		text, name string
		want       bool
	}{
		{"touch /x", "/x", true}, {"touch /x/y", "/x", true}, {"touch /root/x", "/x", true}, {"touch /xy", "/x", false}, {"touch /xy /x", "/x", true},
	} {
		require.Equal(t, x.want, hasPath(x.text, x.name, false), "%q %q", x.text, x.name)
	}
	for text, want := range map[string]bool{
		"tar -C /srv/app": false, "rm -rf /srv/*": true, "ls /srv": true, "ls /srv/": true, "ls /srv/a /srv": true, "ls /srv/.x": false,
	} {
		require.Equal(t, want, hasPath(text, "/srv", true), text)
		require.Equal(t, want, hasWord(text, "srv", true), text)
	}
}

// The indexes find the same as a search of all texts.
func TestIndexesOfNames(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(alphabet []string, most int) string {
		var b strings.Builder
		for range 1 + rnd.IntN(most) {
			b.WriteString(alphabet[rnd.IntN(len(alphabet))])
		}
		return b.String()
	}
	letters := []string{"a", "b", "d", "0", ".", "-", "/", " ", "@", "é", "\n"}
	names := []string{"web", "sql", "ssh", "d", "1", "-", "openssh", "lib", "server", ".", "X"}
	matched := 0
	for range 2000 {
		var e incompleteEffects
		e.textOf = func(r *resource.Resource) (string, []string) { return r.ID.Type, nil }
		for i := range 8 {
			text := random(letters, 12)
			if rnd.IntN(20) == 0 {
				text += strings.Repeat("a.", mostDots+1) + "b" // too many dots to be indexed
			}
			e.changingFiles = append(e.changingFiles, &incompleteEffect{index: i, installsFiles: i%2 == 0, names: []string{random(names, 4), random(names, 4)}, r: &resource.Resource{ID: resource.ID{Type: text}}})
		}
		look := overlay.Look{Kind: []overlay.LookKind{overlay.UserLook, overlay.UnitLook}[rnd.IntN(2)], Name: random([][]string{letters, names}[rnd.IntN(2)], 4)}
		if rnd.IntN(2) == 0 {
			look.Kind, look.Name = []overlay.LookKind{overlay.PathLook, overlay.TreeLook}[rnd.IntN(2)], "/"+look.Name
		}
		for _, only := range []bool{false, true} {
			found := make(map[int]bool)
			for x := range e.matching(look, only) {
				found[x.index] = true
			}
			for _, x := range e.changingFiles {
				want := x.matches(look) && (x.installsFiles || !only)
				require.Equal(t, want, found[x.index], "%q in %q of %s", look.Name, x.text, x.r.ID.Name)
				if want {
					matched++
				}
			}
		}
	}
	require.Greater(t, matched, 300)
	require.False(t, slices.Contains(piecesOf("lib-web"), "lib"))
}

// Few texts are searched for a name, however many there are.
func TestFewTextsAreSearched(t *testing.T) {
	searched := func(many int) (n int) {
		var e incompleteEffects
		e.textOf = func(r *resource.Resource) (string, []string) {
			return r.ID.Name + "\nfalse\nminimum\n/home/" + r.ID.Name + "\npresent", nil
		}
		for i := range many {
			e.changingFiles = append(e.changingFiles, &incompleteEffect{index: i, installsFiles: i%2 == 0, names: []string{fmt.Sprintf("pkg-%d-web%d", i, i)}, r: &resource.Resource{ID: resource.ID{Name: fmt.Sprintf("pkg-%d-web%d", i, i)}}})
			for _, look := range []overlay.Look{
				{Kind: overlay.PathLook, Name: "/etc/passwd"}, {Kind: overlay.PathLook, Name: fmt.Sprintf("/etc/cron.d/pkg-%d-web%d", i, i)},
				{Kind: overlay.UserLook, Name: fmt.Sprintf("web%dd", i)}, {Kind: overlay.UnitLook, Name: fmt.Sprintf("pkg-%d-web%d.service", i, i)},
			} {
				found := false
				for _, list := range e.candidates(look, false) {
					n += len(list)
					found = found || slices.Contains(list, e.changingFiles[i])
				}
				ofPackage := look.Kind == overlay.UserLook && i%2 == 0 // only these share parts of names
				require.Equal(t, ofPackage || look.Kind == overlay.UnitLook || strings.HasSuffix(look.Name, "b"+strconv.Itoa(i)), found, look.Name)
			}
		}
		return n
	}
	few, many := searched(500), searched(2000)
	t.Logf("%.1f texts for each of 500, %.1f for each of 2000", float64(few)/500, float64(many)/2000)
	require.LessOrEqual(t, many, 8*few) // numbers share their beginnings
}
