package state

import (
	"encoding/base64"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/luaccm/ccm/runtime/host"
	"github.com/luaccm/ccm/runtime/schema"
)

// What is written for every file that is changed is written without reflection,
// as encoding/json would write it.

// appendJSON appends the line to b.
func (l changeLine) appendJSON(b []byte) ([]byte, error) {
	c := l.Change
	b = schema.AppendText(append(b, `{"protocol":`...), l.Protocol)
	b = c.Path.appendJSON(append(b, `,"path":`...))
	if c.Dir != "" {
		b = c.Dir.appendJSON(append(b, `,"dir":`...))
	}
	if c.Resource != "" {
		b = schema.AppendText(append(b, `,"resource":`...), c.Resource)
	}
	b, err := c.Before.appendJSON(append(b, `,"before":`...))
	b = strconv.AppendBool(append(b, `,"content":`...), c.Content)
	if c.Sensitive {
		b = append(b, `,"sensitive":true`...)
	}
	b, errNext := appendVersion(b, `,"next":`, c.Next)
	b, errAfter := appendVersion(b, `,"after":`, c.After)
	return append(b, '}'), errors.Join(err, errNext, errAfter)
}

// appendVersion appends v under a name, if there is one.
func appendVersion(b []byte, name string, v *Version) ([]byte, error) {
	if v == nil {
		return b, nil
	}
	return v.appendJSON(append(b, name...))
}

func (n Name) appendJSON(b []byte) []byte {
	if utf8.ValidString(string(n)) {
		return schema.AppendText(b, string(n))
	}
	b = base64.StdEncoding.AppendEncode(append(b, `{"base64":"`...), []byte(n))
	return append(b, `"}`...)
}

func (v Version) appendJSON(b []byte) ([]byte, error) {
	b = append(append(append(b, `{"kind":"`...), kinds[v.Kind]...), '"')
	if v.Kind == host.Missing {
		return append(b, '}'), nil // there is nothing else to say of it
	}
	b = append(append(append(b, `,"mode":"`...), v.Mode.String()...), '"')
	b = strconv.AppendUint(append(b, `,"uid":`...), uint64(v.UID), 10)
	b = strconv.AppendUint(append(b, `,"gid":`...), uint64(v.GID), 10)
	b = strconv.AppendInt(append(b, `,"size":`...), v.Size, 10)
	b = append(b, `,"mtime":`...)
	var err error
	if year := v.MTime.Year(); year < 0 || year > 9999 {
		err = errors.New("its time has a year of more than four digits") // which RFC 3339 has no form for
	}
	b = append(v.MTime.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	b = strconv.AppendUint(append(b, `,"dev":`...), v.Dev, 10)
	b = strconv.AppendUint(append(b, `,"ino":`...), v.Ino, 10)
	if v.Target != "" {
		b = v.Target.appendJSON(append(b, `,"target":`...))
	}
	if v.Object != "" {
		b = schema.AppendText(append(b, `,"object":`...), v.Object)
	}
	if v.Unkept != "" {
		b = schema.AppendText(append(b, `,"unkept":`...), v.Unkept)
	}
	return append(b, '}'), err
}

// appendLine appends d to b, as a line.
func (d catalogEntry) appendLine(b []byte) ([]byte, error) {
	b = schema.AppendText(append(b, `{"id":`...), d.ID)
	b = schema.AppendText(append(b, `,"type":`...), d.Type)
	if d.File != "" {
		b = schema.AppendText(append(b, `,"file":`...), d.File)
	}
	if d.Line != 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(d.Line), 10)
	}
	var err error
	switch {
	case d.table != nil:
		b, err = d.table.AppendJSON(append(b, `,"properties":`...))
	case len(d.Properties) > 0:
		b = append(append(b, `,"properties":`...), d.Properties...)
	}
	if len(d.Sealed) > 0 {
		b = base64.StdEncoding.AppendEncode(append(b, `,"sealed":"`...), d.Sealed)
		b = append(b, '"')
	}
	if d.Lazy {
		b = append(b, `,"lazy":true`...)
	}
	return append(b, '}', '\n'), err
}
