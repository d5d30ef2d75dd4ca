package facts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/host"
)

// sharedFacts returns the rows of the table in docs/facts.md that says how others call a fact: the names of ours, facter's
// and Ansible's, the newest first.
func sharedFacts(t *testing.T) (rows [][3][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/facts.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| fact | facter | Ansible |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table + "\n") {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		require.Len(t, cells, 3, line)
		var row [3][]string
		for i, cell := range cells {
			row[i] = regexp.MustCompile("[^`, ]+").FindAllString(cell, -1)
		}
		require.Len(t, row[0], 1)
		rows = append(rows, row)
	}
	return rows
}

// changing are facts that are compared only in that both have them or neither.
var changing = regexp.MustCompile(`^(load|uptime|memory\.available|swap\.free|boot\.time)\b`)

// Of some facts the others have another form of the same: these turn ours into theirs.
var (
	inMiB = func(ours any) any { return ours.(int64) / (1 << 20) }

	forFacter = map[string]func(any) any{
		"os.family":            capitalized,
		"ssh.NAME.fingerprint": func(ours any) any { return nil }, // in hexadecimal digits, and derived from the key
	}
	forAnsible = map[string]func(any) any{
		"os.family":               capitalized,
		"os.id":                   capitalized,
		"os.release":              func(ours any) any { return nil }, // with a minor version, or without
		"os.release_major":        func(ours any) any { return nil }, // "sid" has none
		"memory.total":            inMiB,
		"swap.total":              inMiB,
		"block_devices.NAME.size": func(ours any) any { return strconv.FormatInt(ours.(int64)/512, 10) }, // sectors
		"kernel.parameters.NAME": func(ours any) any {
			if ours == "" {
				return true
			}
			return ours
		},
	}
)

// capitalized turns debian into Debian and rhel into RedHat.
func capitalized(ours any) any {
	if ours == "rhel" || ours == "fedora" {
		return "RedHat"
	}
	return strings.ToUpper(ours.(string)[:1]) + ours.(string)[1:]
}

// requireAgreement compares the facts of the table with those of another program, in column 1 or 2.
func requireAgreement(t *testing.T, column int, theirs map[string]any, convert map[string]func(any) any) {
	t.Helper()
	other := Static(theirs)
	ours := New(t.Context(), &host.New(host.Options{}).View, Standard(), nil)
	compared := 0
	for _, row := range sharedFacts(t) {
		if len(row[column]) == 0 {
			continue
		}
		name, there := row[0][0], row[column][0]
		names := []string{""}
		table, _, byName := strings.Cut(name, ".NAME")
		if byName {
			names = nil
			if val, err := ours.Get(table); err == nil {
				for x := range val.(map[string]any) {
					names = append(names, x)
				}
			}
		}
		for _, x := range names {
			put := strings.NewReplacer("NAME", escapeName.Replace(x))
			mine, err := ours.Get(put.Replace(name))
			if err != nil {
				mine = nil
			}
			val, err := other.Get(put.Replace(there))
			if err != nil || val == "NA" || val == "" || val == nil {
				continue // they have fewer: no loop devices, no partitions, no DMI on some machines
			}
			if f := convert[name]; f != nil && mine != nil {
				if mine = f(mine); mine == nil {
					continue
				}
			}
			what := fmt.Sprintf("%s, there %s", put.Replace(name), put.Replace(there))
			if changing.MatchString(name) {
				require.NotNil(t, mine, what)
			} else {
				require.Equal(t, fmt.Sprint(val), fmt.Sprint(mine), what)
			}
			compared++
		}
	}
	require.Greater(t, compared, 15)
}

func TestFacterAgrees(t *testing.T) {
	facter, err := exec.LookPath("facter")
	if err != nil {
		t.Skip("facter is not installed")
	}
	// It exits with 1 where it could not find out something.
	out, err := exec.CommandContext(t.Context(), facter, "--json").Output()
	if _, failed := errors.AsType[*exec.ExitError](err); !failed {
		require.NoError(t, err)
	}
	theirs, err := decodeJSON("facter", out)
	require.NoError(t, err)
	requireAgreement(t, 1, theirs.(map[string]any), forFacter)
}

func TestAnsibleAgrees(t *testing.T) {
	ansible, err := exec.LookPath("ansible")
	if err != nil {
		t.Skip("Ansible is not installed")
	}
	if testing.Short() {
		t.Skip("Ansible takes seconds")
	}
	cmd := exec.CommandContext(t.Context(), ansible, "localhost", "-i", "localhost,", "-c", "local", "-m", "setup")
	cmd.Env = append(os.Environ(), "ANSIBLE_HOME="+t.TempDir(), "ANSIBLE_LOCAL_TEMP="+t.TempDir(), "ANSIBLE_REMOTE_TEMP="+t.TempDir(), "ANSIBLE_NOCOLOR=1", "ANSIBLE_STDOUT_CALLBACK=minimal")
	out, err := cmd.Output()
	require.NoError(t, err)
	_, text, found := strings.Cut(string(out), "SUCCESS => ")
	require.True(t, found, "%s", out)
	var answer struct {
		Facts json.RawMessage `json:"ansible_facts"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &answer))
	theirs, err := decodeJSON("ansible", answer.Facts)
	require.NoError(t, err)
	bare := make(map[string]any)
	for name, val := range theirs.(map[string]any) {
		bare[strings.TrimPrefix(name, "ansible_")] = val
	}
	requireAgreement(t, 2, bare, forAnsible)
}
