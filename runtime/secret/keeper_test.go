package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/runtime/secret"
)

var testKey = bytes.Repeat([]byte{7}, secret.KeySize)

func keeper(t testing.TB, values ...string) *secret.Keeper {
	t.Helper()
	k := secret.New(func() ([]byte, error) { return testKey, nil })
	for _, v := range values {
		require.NoError(t, k.Add(v))
	}
	return k
}

func TestAdd(t *testing.T) {
	k := secret.New(nil)
	for value, want := range map[string]error{
		"": secret.ErrEmpty, "abc": secret.ErrShort, " \n\t ": secret.ErrBlank, strings.Repeat("x", secret.Longest+1): secret.ErrLong,
	} {
		require.ErrorIs(t, k.Add(value), want)
	}
	require.False(t, k.Any())
	require.Equal(t, "abc", k.Redact("abc"))
	require.NoError(t, k.Add("abcd"))
	require.NoError(t, k.Add("abcd"))
	require.True(t, k.Any())
	var none *secret.Keeper
	require.Equal(t, "abcd", none.Redact("abcd"))
	require.False(t, none.Contains("abcd"))
	require.NoError(t, none.RefuseArgv([]string{"abcd"}))
}

func TestRedact(t *testing.T) {
	for _, tt := range []struct {
		does    string
		secrets []string
		text    string
		want    string // a digest is written #
	}{
		{"alone", []string{"hunter2"}, "hunter2", "(secret #)"},
		{"in the middle, twice", []string{"hunter2"}, "a hunter2b hunter2", "a (secret #)b (secret #)"},
		{"the longest first", []string{"hunter2", "hunter2hunter2"}, "xhunter2hunter2x", "x(secret #)x"},
		{"two that overlap", []string{"abcdef", "defghi"}, "-abcdefghi-", "-(secret #)-"},
		{"one inside of another", []string{"ell-ell", "hell-ell-o"}, "hell-ell-o ell-ell", "(secret #) (secret #)"},
		{"a beginning is none", []string{"hunter2"}, "hunter", "hunter"},
		{"side by side", []string{"abcd"}, "abcdabcd", "(secret #)(secret #)"},
		{"a mask stays", []string{"secret"}, "(secret 0a1b2c3d) secrets", "(secret #) (secret #)s"},
		{"lines of one", []string{"-----BEGIN-----\nabcdef\nxy\n-----END-----"}, "+abcdef\n+xy", "+(secret #)\n+xy"},
		{"all lines", []string{"abcdef\nxy\nghijkl"}, "[abcdef\nxy\nghijkl]", "[(secret #)]"},
		{"upper and lower case", []string{"Hunter-Two"}, "HUNTER-TWO hunter-two", "(secret #) (secret #)"},
		{"its digest", []string{"hunter2"}, "sha256:f52fbd32b2b3b86f", "sha256:(secret #)"},
	} {
		t.Run(tt.does, func(t *testing.T) {
			k := keeper(t, tt.secrets...)
			got := k.Redact(tt.text)
			require.Equal(t, tt.want, unkeyed(got))
			require.Equal(t, got, k.Redact(got), "what is redacted is not changed")
		})
	}
}

// unkeyed returns text with # in the place of digests.
func unkeyed(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "(secret ")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString("(secret #")
		text = rest[8:]
	}
}

// The mask depends on the key, so it is the same in every run and differs between machines.
func TestMask(t *testing.T) {
	a, b := keeper(t, "hunter2", "hunter3"), keeper(t, "hunter2")
	require.Equal(t, a.Mask("hunter2"), b.Redact("hunter2"))
	require.NotEqual(t, a.Mask("hunter2"), a.Mask("hunter3"))
	other := secret.New(func() ([]byte, error) { return bytes.Repeat([]byte{8}, secret.KeySize), nil })
	require.NotEqual(t, a.Mask("hunter2"), other.Mask("hunter2"))
	require.Regexp(t, `^\(secret [0-9a-f]{8}\)$`, secret.New(nil).Mask("hunter2"))
}

var kinds = []string{
	"plain-Passw0rd", `quo"te'd`, `back\slash\n`, "tab\there", "ünïcödé→☃", "<a href='x'>&amp;</a>", "$HOME `id` $(id) !x", "sp ace d", "dGVzdA==",
	"https://u:p@h/?a=b&c=d", "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----", "{\"a\":[1,\"b\"]}", "12345678", "%41%42", "a\u2028b\u0085c", "null",
}

// Whatever a program writes a secret as, nothing of it is left.
func TestForms(t *testing.T) {
	writers := map[string]func(s string) string{
		"plain":  func(s string) string { return s },
		"json":   func(s string) string { b, _ := json.Marshal(map[string]string{"x": s}); return string(b) },
		"json 2": func(s string) string { b, _ := json.Marshal(s); b, _ = json.Marshal(string(b)); return string(b) },
		"go":     strconv.Quote, "ascii": strconv.QuoteToASCII,
		"go in json":  func(s string) string { b, _ := json.Marshal(strconv.Quote(s)); return string(b) },
		"shell":       func(s string) string { return shellquote.Join("echo", s) },
		"shell in go": func(s string) string { return strconv.Quote(shellquote.Join("echo", s)) },
		"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"basic auth":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s + ":")) },
		"base64 url":  func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + s)) },
		"hex":         func(s string) string { return hex.EncodeToString([]byte(s)) },
		"query":       url.QueryEscape, "path": url.PathEscape,
		"path of a URL": func(s string) string { return (&url.URL{Path: "/a/" + s + "/b"}).String() },
		"fragment":      func(s string) string { return (&url.URL{Path: "/a", Fragment: s}).String() },
		"encodeURIComponent": func(s string) string {
			return strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(url.QueryEscape(s))
		},
		"lower case": func(s string) string {
			return regexp.MustCompile("%[0-9A-F]{2}").ReplaceAllStringFunc(url.PathEscape(s), strings.ToLower)
		},
		"userinfo": func(s string) string { return url.UserPassword("me", s).String() },
	}
	for name, write := range writers {
		for _, s := range kinds {
			text := "before " + write(s) + " after"
			got := keeper(t, s).Redact(text)
			require.Contains(t, got, "(secret ", "%s of %q", name, s)
			require.NotContains(t, got, write(s), name)
			for line := range strings.Lines(s) {
				require.NotContains(t, got, strings.TrimSpace(line), name)
			}
		}
	}
}

// What base64(1) makes of a long secret has line breaks in it.
func TestBase64Lines(t *testing.T) {
	if _, err := exec.LookPath("base64"); err != nil {
		t.Skip(err)
	}
	long := strings.Repeat("0123456789abcdefghij", 20)
	cmd := exec.Command("base64")
	cmd.Stdin = strings.NewReader(long)
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Less(t, len(strings.ReplaceAll(unkeyed(keeper(t, long).Redact(string(out))), "(secret #)", "")), 16)
}

// Random secrets in random surroundings never come through, however they are cut
// into writes, and nothing else is lost.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("makes random secrets: make test-all")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	letters := []rune("abcAB01\n\"\\ é'")
	word := func(n int) string {
		out := make([]rune, n)
		for i := range out {
			out[i] = letters[rnd.IntN(len(letters))]
		}
		return string(out)
	}
	for range 3000 {
		k := secret.New(func() ([]byte, error) { return testKey, nil })
		var values []string
		for range 1 + rnd.IntN(4) {
			if v := word(4 + rnd.IntN(12)); k.Add(v) == nil {
				values = append(values, v)
			}
		}
		var text strings.Builder
		for range rnd.IntN(8) {
			text.WriteString(word(rnd.IntN(10)))
			if len(values) > 0 && rnd.IntN(2) == 0 {
				text.WriteString(values[rnd.IntN(len(values))])
			}
		}
		whole := k.Redact(text.String())
		var out bytes.Buffer
		w := secret.NewWriter(&out, k)
		for rest := text.String(); rest != ""; {
			n := 1 + rnd.IntN(min(len(rest), 7))
			_, err := io.WriteString(w, rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, w.Flush())
		for _, got := range []string{whole, out.String()} {
			clear := strings.Split(unkeyed(got), "(secret #)")
			for _, v := range values {
				for _, part := range clear {
					require.NotContains(t, part, v, "%q in %q", values, text.String())
				}
			}
			at := 0 // what is left is there in its order
			for _, part := range clear {
				i := strings.Index(text.String()[at:], part)
				require.GreaterOrEqual(t, i, 0)
				at += i + len(part)
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range kinds {
		f.Add(s, "x"+s+"y\n"+s, 3)
	}
	f.Fuzz(func(t *testing.T, value, text string, cut int) {
		k := secret.New(func() ([]byte, error) { return testKey, nil })
		if k.Add(value) != nil {
			return
		}
		got := k.Redact(text)
		if strings.Contains(strings.ReplaceAll(got, k.Mask(value), "\x00"), value) && !strings.Contains(text, "(secret ") && !strings.Contains("(secret 0)", value) {
			t.Fatalf("%q comes through: %q", value, got)
		}
		var out bytes.Buffer
		w := secret.NewWriter(&out, k)
		cut = min(max(cut, 0), len(text))
		fmt.Fprint(w, text[:cut])
		fmt.Fprint(w, text[cut:])
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "(secret ") && strings.Contains(strings.ReplaceAll(unkeyed(out.String()), "(secret #)", "\x00"), value) {
			t.Fatalf("%q comes through two writes: %q", value, out.String())
		}
		doc, _ := json.Marshal(map[string]any{"name": text, value: []string{text}})
		if !json.Valid(k.JSON(doc, nil)) {
			t.Fatalf("no JSON: %s", k.JSON(doc, nil))
		}
	})
}

// A text that cannot begin a secret is not held back.
func TestWriterPrompts(t *testing.T) {
	var out bytes.Buffer
	w := secret.NewWriter(&out, keeper(t, "hunter2"))
	fmt.Fprint(w, "Apply this? [y/N] ")
	require.Equal(t, "Apply this? [y/N] ", out.String())
	out.Reset()
	fmt.Fprint(w, "a hunt")
	require.Equal(t, "a ", out.String())
	fmt.Fprint(w, "er2 b")
	require.Equal(t, "a (secret #) b", unkeyed(out.String()))
	out.Reset()
	fmt.Fprint(w, "hunt")
	fmt.Fprint(w, "ing")
	require.Equal(t, "hunting", out.String())
}

// A secret that is a word of the protocol leaves it one.
func TestJSON(t *testing.T) {
	type event struct {
		Protocol string            `json:"protocol"`
		Duration int               `json:"duration"`
		Changed  bool              `json:"changed"`
		Message  string            `json:"message"`
		Data     map[string]string `json:"data"`
	}
	p := secret.NewProtocol([]string{"protocol"}, event{})
	k := keeper(t, "changed", "true", "1234", "message", "v1.x", `a"b\c`)
	doc, err := json.Marshal(event{"v1.x", 1234, true, "changed 1234 <a\"b\\c> message", map[string]string{"message2": "x", "v1.x": "true"}})
	require.NoError(t, err)
	got := k.JSON(doc, p)
	require.Equal(t, `{"protocol":"v1.x","duration":1234,"changed":true,"message":"(secret #) (secret #) <(secret #)> (secret #)","data":{"(secret #)2":"x","(secret #)":"(secret #)"}}`, unkeyed(string(got)))
	require.Equal(t, `{"(secret #)": ["(secret #)", 12345, true, null]}`, unkeyed(string(k.JSON([]byte(`{"changed": [1234, 12345, true, null]}`), nil))))
	require.Equal(t, "no json (secret #)", unkeyed(string(k.JSON([]byte("no json changed"), nil))))
	var out bytes.Buffer
	enc := json.NewEncoder(secret.NewWriter(&out, k).JSON(p))
	require.NoError(t, enc.Encode(event{Message: "\u003cmessage\u003e"}))
	require.True(t, json.Valid(out.Bytes()))
	require.NotContains(t, out.String(), `"<message`)
}

func TestConceal(t *testing.T) {
	k := keeper(t, "newsecret", "line-one\nxy\nline-three")
	have := "user = app\npassword = oldsecret # x\nport = 1\nother = otherold\nlast"
	want := "user = app\npassword = newsecret # x\nport = 2\nline-one\nxy\nline-three\nlast"
	a, b := k.Conceal(have, want, false)
	require.Equal(t, "user = app\npassword = (secret #) # x\n(secret #)\n(secret #)\nlast", unkeyed(string(a)))
	require.Equal(t, "user = app\npassword = (secret #) # x\nport = 2\n(secret #)\n(secret #)\n(secret #)\nlast", unkeyed(string(b)))
	require.Contains(t, string(a), k.Mask("oldsecret"), "the same secret has the same digest")
	a, b = k.Conceal("a=unknown\nb=1\n\n", "a=unknown\nb=2\n\n", true)
	require.Equal(t, "(secret #)\n(secret #)\n\n", unkeyed(string(a)))
	require.Equal(t, "(secret #)\nb=2\n\n", unkeyed(string(b)))
	a, b = k.Conceal("\x00oldsecret", "newsecret", false)
	require.Equal(t, "\x00oldsecret", string(a), "no diff is made of what is no text")
	require.Equal(t, "newsecret", string(b))
}

func TestSeal(t *testing.T) {
	k := keeper(t)
	for _, size := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000} {
		text := bytes.Repeat([]byte("hunter2 "), size/8+1)[:size]
		var sealed bytes.Buffer
		w, err := k.Seal(&sealed)
		require.NoError(t, err)
		for rest := text; len(rest) > 0; {
			n := min(len(rest), 1000)
			_, err := w.Write(rest[:n])
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, w.Close())
		require.NotContains(t, sealed.String(), "hunter2")
		r, err := k.Open(bytes.NewReader(sealed.Bytes()))
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, len(text), len(got))
		require.True(t, bytes.Equal(text, got))

		// Data that is truncated, changed, or sealed with another key cannot be opened.
		for name, broken := range map[string][]byte{
			"cut":     sealed.Bytes()[:sealed.Len()-1],
			"changed": append(bytes.Clone(sealed.Bytes()[:sealed.Len()-1]), sealed.Bytes()[sealed.Len()-1]^1),
			"longer":  append(bytes.Clone(sealed.Bytes()), 'x'),
		} {
			r, err := k.Open(bytes.NewReader(broken))
			if err == nil {
				_, err = io.ReadAll(r)
			}
			require.Error(t, err, name)
		}
		other := secret.New(nil)
		r, err = other.Open(bytes.NewReader(sealed.Bytes()))
		require.NoError(t, err)
		_, err = io.ReadAll(r)
		require.ErrorIs(t, err, secret.ErrSeal)
	}
	_, err := k.Open(strings.NewReader("something else, which is long enough to be read as a head, or is it"))
	require.ErrorIs(t, err, secret.ErrNotSealed)
	// A piece that is missing at the end is found out too.
	var sealed bytes.Buffer
	w, err := k.Seal(&sealed)
	require.NoError(t, err)
	_, err = w.Write(make([]byte, 2*64<<10))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	r, err := k.Open(bytes.NewReader(sealed.Bytes()[:sealed.Len()-64<<10-16]))
	require.NoError(t, err)
	_, err = io.ReadAll(r)
	require.Error(t, err)
}

func TestRefuseArgv(t *testing.T) {
	k := keeper(t, "hunter2")
	require.NoError(t, k.RefuseArgv([]string{"mysql", "-p"}))
	err := k.RefuseArgv([]string{"mysql", "-phunter2"})
	require.ErrorIs(t, err, secret.ErrArgv)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestScanner(t *testing.T) {
	require.False(t, secret.New(nil).Scanner().Found())
	k := keeper(t, "hunter2")
	for text, want := range map[string]bool{"a hunt|er2 b": true, "h|u|n|t|e|r|2": true, "hunter|": false, "hunter2": true, "|": false} {
		s := k.Scanner()
		for part := range strings.SplitSeq(text, "|") {
			_, _ = io.WriteString(s, part)
		}
		require.Equal(t, want, s.Found(), text)
	}
}

func TestStars(t *testing.T) {
	require.Equal(t, "pw = \"*******\" -- \tx", keeper(t, "hunter2").Stars("pw = \"hunter2\" -- \tx"))
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("a line of a report that holds no secret at all\n", 1000)
	for _, n := range []int{0, 20} {
		k := secret.New(nil)
		for i := range n {
			_ = k.Add(fmt.Sprintf("secret-number-%d", i))
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				k.Redact(text)
			}
		})
	}
}
