package state

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/jsonwriter"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Lines for changed files are encoded without reflection, because a run writes one for every
// changed file. The result is that of encoding/json.

// appendJSON appends the line to b.
func (l changeLine) appendJSON(b []byte) ([]byte, error) {
	c := l.Change
	o := jsonwriter.Begin(b)
	o.Text("protocol", l.Protocol)
	errs := []error{o.Value("path", c.Path.appendJSON)}
	if c.Dir != "" {
		errs = append(errs, o.Value("dir", c.Dir.appendJSON))
	}
	if c.Resource != "" {
		errs = append(errs, o.Value("resource", c.Resource.appendJSON))
	}
	errs = append(errs, o.Value("before", c.Before.appendJSON))
	o.Bool("content", c.Content)
	o.OptionalBool("sensitive", c.Sensitive)
	if c.Next != nil {
		errs = append(errs, o.Value("next", c.Next.appendJSON))
	}
	if c.After != nil {
		errs = append(errs, o.Value("after", c.After.appendJSON))
	}
	return o.End(), errors.Join(errs...)
}

func (n Name) appendJSON(b []byte) ([]byte, error) {
	if utf8.ValidString(string(n)) {
		return jsonwriter.AppendText(b, string(n)), nil
	}
	b = base64.StdEncoding.AppendEncode(append(b, `{"base64":"`...), []byte(n))
	return append(b, `"}`...), nil
}

func (v Version) appendJSON(b []byte) (_ []byte, err error) {
	o := jsonwriter.Begin(b)
	o.Text("kind", kinds[v.Kind])
	if v.Kind == safepath.Missing {
		return o.End(), nil
	}
	o.Text("mode", v.Mode.String())
	o.Uint("uid", uint64(v.UID))
	o.Uint("gid", uint64(v.GID))
	o.Int("size", v.Size)
	o.Time("mtime", v.MTime)
	if year := v.MTime.Year(); year < 0 || year > 9999 {
		err = diag.Exceeds("year", "four digits") // RFC 3339 cannot express such a year
	}
	o.Uint("dev", v.Dev)
	o.Uint("ino", v.Ino)
	if v.Target != "" {
		err = errors.Join(err, o.Value("target", v.Target.appendJSON))
	}
	if v.Xattrs != nil {
		err = errors.Join(err, o.Value("xattrs", func(b []byte) ([]byte, error) {
			text, err := json.Marshal(v.Xattrs)
			return append(b, text...), err
		}))
	}
	o.OptionalText("object", v.Object)
	o.OptionalText("unkept", v.Unkept)
	return o.End(), err
}

// appendLine appends d to b, as a line.
func (d catalogEntry) appendLine(b []byte) (_ []byte, err error) {
	o := jsonwriter.Begin(b)
	err = o.Value("id", d.ID.appendJSON)
	o.Text("type", d.Type)
	o.OptionalText("file", d.File)
	if d.Line != 0 {
		o.Int("line", int64(d.Line))
	}
	switch {
	case d.table != nil:
		err = errors.Join(err, o.Value("properties", d.table.AppendJSON))
	case len(d.Properties) > 0:
		err = errors.Join(err, o.Value("properties", func(b []byte) ([]byte, error) { return append(b, d.Properties...), nil }))
	}
	o.Base64("sealed", d.Ciphertext)
	o.OptionalBool("lazy", d.Lazy)
	o.OptionalBool("made", d.Made)
	return append(o.End(), '\n'), err
}
