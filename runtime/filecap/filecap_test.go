package filecap

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/diag"
)

// texts are texts of setcap, with what getcap prints afterwards, or the mistake.
var texts = []struct{ in, out, err, hint string }{
	{in: "cap_net_bind_service=ep", out: "cap_net_bind_service=ep"},
	{in: "cap_net_raw,cap_net_admin+ep", out: "cap_net_admin,cap_net_raw=ep"},
	{in: "CAP_CHOWN=p cap_net_raw=ip", out: "cap_net_raw=ip cap_chown+p"},
	{in: " cap_chown=p\ncap_kill=p\t", out: "cap_chown,cap_kill=p"},
	{in: "cap_chown,cap_chown=pp", out: "cap_chown=p"},
	{in: "cap_chown=p+e", out: "cap_chown=ep"},
	{in: "cap_chown=+p", out: "cap_chown=p"},
	{in: "cap_chown=ei cap_fowner=ep cap_kill=eip", out: "cap_kill=eip cap_chown+ei cap_fowner+ep"},
	{in: "cap_chown=i cap_fowner=p cap_kill=ip", out: "cap_kill=ip cap_chown+i cap_fowner+p"},
	{in: "12=p cap_checkpoint_restore=p", out: "cap_net_admin,cap_checkpoint_restore=p"},
	{in: "all=p", out: "=p"},
	{in: "ALL+ep", out: "=ep"},
	{in: "=eip", out: "=eip"},
	{in: "cap_chown,all=p", out: "=p"},
	{in: "=p all-p cap_kill+p", out: "cap_kill=p"},
	{in: "=", out: "="},
	{in: "cap_chown=", out: "="},
	{in: "cap_chown=p cap_chown=", out: "="},
	{in: "cap_chown+p-p", out: "="},
	{in: "cap_chown", err: `expected flags after the names, as in "cap_chown=ep", got none`},
	{in: "cap_chown+", err: `expected flags after +, got "cap_chown+"`},
	{in: "cap_chown=p-", err: `expected flags after -, got "cap_chown=p-"`},
	{in: "+ep", err: `expected names before +, got "+ep"`},
	{in: "=p+i", err: `expected names before +, got "=p+i"`},
	{in: "cap_chown=p=e", err: `expected = only behind the names, got "cap_chown=p=e"`},
	{in: "cap_chown+p=e", err: `expected = only behind the names, got "cap_chown+p=e"`},
	{in: "cap_chown=P", err: `expected flags e (effective), i (inheritable) and p (permitted), got "P"`},
	{in: "cap_chown=p,cap_kill=p", err: `expected flags e (effective), i (inheritable) and p (permitted), got "p,cap_kill"`},
	{in: "cap_net_bind_servce=ep", err: `unknown capability "cap_net_bind_servce"`, hint: `did you mean "cap_net_bind_service"?`},
	{in: "net_bind_service=ep", err: `unknown capability "net_bind_service"`, hint: `did you mean "cap_net_bind_service"?`},
	{in: "none", err: `unknown capability "none"`, hint: `"" removes the capabilities`},
	{in: "cap_chown,=p", err: `unknown capability ""`},
	{in: "64=p", err: `unknown capability "64"`},
	{in: "cap_chown=ep cap_kill=p", err: `expected e for all capabilities of the file or for none, got "cap_chown=ep cap_kill=p"`},
}

// TestText: each text is read, written as getcap does, and read again; so is the value of the attribute.
func TestText(t *testing.T) {
	for _, x := range texts {
		var s Capabilities
		err := s.UnmarshalText([]byte(x.in))
		if x.err != "" {
			require.EqualError(t, err, x.err)
			require.Equal(t, x.hint, diag.HintOf(err), x.in)
			continue
		}
		require.NoError(t, err, x.in)
		require.Equal(t, x.out, s.String())
		var again Capabilities
		require.NoError(t, again.UnmarshalText([]byte(s.String())), x.in)
		require.Equal(t, s, again, x.in)
		read, err := FromXattr(s.Xattr())
		require.NoError(t, err)
		require.Equal(t, s, read)
	}
	var s Capabilities
	require.EqualError(t, s.UnmarshalText([]byte("cap_chown=e")), `expected "ep" or "ei", because e has no effect alone, got "cap_chown=e"`)
	require.NoError(t, s.UnmarshalText([]byte(" ")))
	require.Equal(t, Capabilities{}, s)
	require.Empty(t, s.String())
	require.Nil(t, s.Xattr())
}

// TestXattr: all versions of the attribute are read, and damaged ones are not.
func TestXattr(t *testing.T) {
	for text, value := range map[string]string{
		"":                          "",
		"=":                         "\x00\x00\x00\x02" + strings.Repeat("\x00", 16),
		"cap_net_bind_service=ep":   "\x01\x00\x00\x02\x00\x04\x00\x00" + strings.Repeat("\x00", 12),
		"cap_chown=i":               "\x00\x00\x00\x01\x00\x00\x00\x00\x01\x00\x00\x00",
		"cap_checkpoint_restore=ep": "\x01\x00\x00\x02" + strings.Repeat("\x00", 8) + "\x00\x01\x00\x00\x00\x00\x00\x00",
		"63=p":                      "\x00\x00\x00\x02" + strings.Repeat("\x00", 8) + "\x00\x00\x00\x80\x00\x00\x00\x00",
		"cap_net_bind_service=ep [rootid=100000]": "\x01\x00\x00\x03\x00\x04\x00\x00" + strings.Repeat("\x00", 12) + "\xa0\x86\x01\x00",
	} {
		s, err := FromXattr([]byte(value))
		require.NoError(t, err, text)
		require.Equal(t, text, s.String())
	}
	for _, value := range []string{"x", "\x00\x00\x00\x02", "\x00\x00\x00\x09" + strings.Repeat("\x00", 16), "\x02\x00\x00\x02" + strings.Repeat("\x00", 16), strings.Repeat("\x00", 21)} {
		_, err := FromXattr([]byte(value))
		require.EqualError(t, err, "the attribute security.capability is damaged")
	}
}

// TestSetcap: setcap writes the same attribute and getcap prints the same text, if both are installed and this user may
// set capabilities. They refuse the same texts, but for e alone, which they ignore.
func TestSetcap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o700))
	for _, tool := range [][]string{{"getcap", file}, {"setcap", "-q", "cap_chown=p", file}} {
		if out, err := exec.Command(tool[0], tool[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", tool[0], err, out)
		}
	}
	for _, x := range texts {
		err := exec.Command("setcap", "-q", x.in, file).Run()
		if x.err != "" {
			require.True(t, errors.As(err, new(*exec.ExitError)), x.in)
			continue
		}
		require.NoError(t, err, x.in)
		out, err := exec.Command("getcap", file).Output()
		require.NoError(t, err)
		require.Equal(t, file+" "+x.out+"\n", string(out), x.in)
	}
}
