package schema

import (
	"embed"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

//go:embed flags_test.go schema_test.go
var flagSource embed.FS

// switches has a property of every kind that flags know.
type switches struct {
	Name  string `ccm:"name,name"`
	Color color  `ccm:"color,default=red"`
	// Mode is octal. There is more to say.
	Mode             *octal              `ccm:"mode"`
	OnlyOnce         bool                `ccm:"only_once,alias=once"`
	Enable           *bool               `ccm:"enable"`
	Tags             []string            `ccm:"tags"`
	Codes            []int               `ccm:"codes"`
	Headers          map[string]string   `ccm:"headers,secret"`
	Data             map[string]any      `ccm:"data"`
	Post             []map[string]string `ccm:"post"`
	Control          *innerSpec          `ccm:"control"`
	Checks           []innerSpec         `ccm:"checks"`
	Ratio            float64             `ccm:"ratio"`
	Noop             bool                `ccm:"noop"`
	Remaining, Right string
}

// parse parses arguments with the flags of switches, and decodes their values.
func parse(t *testing.T, args ...string) (switches, error) {
	t.Helper()
	s := Of(reflect.TypeFor[switches]())
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	tab := new(Table)
	Union{s}.Flags(fs, tab, "switch", func(name string) bool { return name == "noop" }, "control")
	if err := fs.Parse(args); err != nil {
		return switches{}, err
	}
	tab.Entries = append(tab.Entries, Entry{"name", TextValue("x")})
	var out switches
	err := s.Decode(tab, &out)
	return out, err
}

func TestFlagForms(t *testing.T) {
	mode, yes, no := octal(0o644), true, false
	for _, tt := range []struct {
		args string
		want switches
	}{
		{"", switches{}},
		{"--color green", switches{Color: "green"}},
		{"--color=green", switches{Color: "green"}},
		{"--mode 0644", switches{Mode: &mode}},
		{"--only-once", switches{OnlyOnce: true}},
		{"--only_once", switches{OnlyOnce: true}},
		{"--once", switches{OnlyOnce: true}},
		{"--only-once=false", switches{}},
		{"--no-only-once", switches{}},
		{"--enable", switches{Enable: &yes}},
		{"--enable=true", switches{Enable: &yes}},
		{"--no-enable", switches{Enable: &no}},
		{"--enable=false", switches{Enable: &no}},
		{"--tags a --tags b,c", switches{Tags: []string{"a", "b,c"}}},
		{"--codes 0 --codes 2", switches{Codes: []int{0, 2}}},
		{"--headers A=1 --headers B=x=y", switches{Headers: map[string]string{"A": "1", "B": "x=y"}}},
		{`--data n=3 --data s=text --data l=[1,"a"] --data m={"a":true}`, switches{Data: map[string]any{
			"n": int64(3), "s": "text", "l": []any{int64(1), "a"}, "m": map[string]any{"a": true},
		}}},
		{"--post *.sh=one --post *.sh=two", switches{Post: []map[string]string{{"*.sh": "one"}, {"*.sh": "two"}}}},
		{`--checks {"count":1} --checks {"if":"x","count":2}`, switches{Checks: []innerSpec{{Count: 1}, {If: "x", Count: 2}}}},
		{"--ratio 1.5", switches{Ratio: 1.5}},
		{"--switch-noop", switches{Noop: true}},
	} {
		t.Run(tt.args, func(t *testing.T) {
			got, err := parse(t, strings.Fields(tt.args)...)
			require.NoError(t, err)
			tt.want.Name = "x"
			if tt.want.Color == "" {
				tt.want.Color = "red"
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestFlagMistakes(t *testing.T) {
	for args, want := range map[string]string{
		"--color blue":                   `color: expected one of red, green, got "blue"`,
		"--mode rw":                      `mode: expected octal, got "rw"`,
		"--mode 0644 --mode 0600":        "duplicate mode",
		"--enable --no-enable":           "duplicate enable",
		"--enable=maybe":                 `enable: expected true or false, got "maybe"`,
		"--no-enable=false":              `invalid argument "false" for "--no-enable" flag: does not take a value`,
		"--codes x":                      `codes[1]: expected an integer, got "x"`,
		"--headers A":                    `invalid argument "A" for "--headers" flag: expected KEY=VALUE, got "A"`,
		"--headers =1":                   `invalid argument "=1" for "--headers" flag: expected KEY=VALUE, got "=1"`,
		"--headers A=1 --headers A=2":    `invalid argument "A=2" for "--headers" flag: duplicate A`,
		"--checks x":                     `invalid argument "x" for "--checks" flag: expected a JSON object, got "x": invalid character 'x' looking for beginning of value`,
		"--checks [1]":                   `invalid argument "[1]" for "--checks" flag: expected a JSON object, got a list`,
		`--checks {"count":1}{}`:         `invalid argument "{\"count\":1}{}" for "--checks" flag: expected a JSON object, got "{\"count\":1}{}": invalid character '{' after top-level value`,
		`--checks {"count":`:             `invalid argument "{\"count\":" for "--checks" flag: expected a JSON object, got "{\"count\":": unexpected end of JSON input`,
		`--checks {"cuont":1,"count":2}`: `checks[1]: unknown property "cuont"`,
		"--control {}":                   "unknown flag: --control",
		"--noop":                         "unknown flag: --noop",
		"--name y":                       "unknown flag: --name",
		"--tags":                         "flag needs an argument: --tags",
		"--ratio 1.x":                    `ratio: expected a number, got "1.x"`,
	} {
		t.Run(args, func(t *testing.T) {
			_, err := parse(t, strings.Fields(args)...)
			require.ErrorContains(t, err, want)
		})
	}
}

// The help of a flag describes its value in one sentence from the declaration.
func TestFlagHelp(t *testing.T) {
	s := Of(reflect.TypeFor[switches]())
	own, err := flagSource.ReadFile("flags_test.go")
	require.NoError(t, err)
	others, err := flagSource.ReadFile("schema_test.go")
	require.NoError(t, err)
	require.NoError(t, Document(fstest.MapFS{"a.go": {Data: own}, "b.go": {Data: others}}, s))
	fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
	fs.SortFlags = false
	Union{s}.Flags(fs, new(Table), "switch", func(string) bool { return false })
	Describe(fs)
	require.Equal(t, `      --color red|green      (default red)
      --mode octal          octal
      --only-once           
      --enable              
      --no-enable           the opposite of --enable
      --tags string         (repeatable)
      --codes integer       (repeatable)
      --headers KEY=VALUE   (repeatable)
      --data KEY=VALUE      (repeatable)
      --post KEY=VALUE      (repeatable)
      --control JSON        
      --checks JSON         (repeatable)
      --ratio number        
      --noop                
`, fs.FlagUsages())
}

func TestSuggestions(t *testing.T) {
	s := Of(reflect.TypeFor[switches]())
	require.Equal(t, []string{"red", "green"}, s.Field("color").Suggestions())
	require.Empty(t, s.Field("mode").Suggestions())
	require.Empty(t, s.Field("enable").Suggestions())
	require.Equal(t, []string{"present", "absent"}, enumOf(map[string]any{"anyOf": []any{
		map[string]any{"enum": []any{"present", "absent"}}, map[string]any{"type": "string"},
	}}))
}

func TestConceal(t *testing.T) {
	m := Union{Of(reflect.TypeFor[switches]())}
	tab := table("name", "x", "tags", "a")
	tab.Set("headers", MapValue(table("Authorization", "Bearer x", "n", 3)))
	text, err := m.Conceal(tab).MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"x","tags":"a","headers":{"Authorization":"(secret)","n":"(secret)"}}`, string(text))
}
