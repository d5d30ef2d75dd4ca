package ssh

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/ssh"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/site"
	"github.com/luaccm/ccm/site/machine"
)

// An importer writes here the sites of machines that import machine --out scans.
type importer struct {
	e    *cli.Env
	out  string
	many bool   // each host has a directory below out
	like string // the file with the contents of a second machine, "" for none

	writing sync.Mutex // one site at a time: the directories of two hosts may have a new one in common
}

// maxContents is the most bytes that a host may send. The files of a site have at most 64 MiB.
const maxContents = 256 << 20

// importer returns the importer for a command line with --out, and the arguments for the hosts. For any other one, they
// are nil and the arguments themselves.
func (f *sshFlags) importer(e *cli.Env, hosts []ssh.Host, args []string) (*importer, []string, error) {
	if args[0] != "import" {
		return nil, args, nil
	}
	cmd, err := f.parseRemote(args)
	if err != nil || !cmd.Flags().Changed("out") {
		return nil, args, err
	}
	i, there := &importer{e: e, many: len(hosts) > 1}, []string{args[0], cmd.Name(), "--contents"}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch list, ok := f.Value.(pflag.SliceValue); {
		case f.Name == "out":
			i.out = f.Value.String()
		case f.Name == "like":
			i.like = f.Value.String()
			_, err = machine.ReadContents(e.Files.ReadFile, i.like)
		case ok:
			for _, value := range list.GetSlice() {
				there = append(there, "--"+f.Name+"="+value)
			}
		default:
			there = append(there, "--"+f.Name+"="+f.Value.String())
		}
	})
	if err != nil {
		return nil, nil, err
	}
	for _, h := range hosts {
		if err := cli.CheckNewDirectory(e, i.dir(h)); err != nil {
			return nil, nil, err
		}
	}
	return i, there, nil
}

// dir returns the directory for the site of a host.
func (i *importer) dir(h ssh.Host) string {
	if !i.many {
		return i.out
	}
	return filepath.Join(i.out, strings.TrimLeft(strings.ReplaceAll(h.Name, "/", "_"), "."))
}

// run runs a command on a host, and writes the site of an import. A nil importer only runs it.
func (i *importer) run(ctx context.Context, stop <-chan struct{}, c *ssh.Client, h ssh.Host, report func(ssh.Line)) ssh.Result {
	if i == nil {
		return c.Run(ctx, stop, h, report)
	}
	var text strings.Builder
	tooLong := false
	r := c.Run(ctx, stop, h, func(l ssh.Line) {
		switch {
		case l.Stderr:
			report(l)
		case text.Len()+len(l.Text) > maxContents:
			tooLong = true
		default:
			text.WriteString(l.Text + "\n")
		}
	})
	if r.Err != nil || r.Exit != cli.ExitOK {
		return r
	}
	line, err := "", error(diag.Exceeds("output", "256 MiB"))
	if !tooLong {
		line, err = i.write(h, text.String())
	}
	if r.Err = err; err == nil {
		report(ssh.Line{Text: line})
	}
	return r
}

// write writes the site of the contents that a host sent.
func (i *importer) write(h ssh.Host, text string) (line string, err error) {
	i.writing.Lock()
	defer i.writing.Unlock()
	c, err := machine.ParseContents([]byte(text))
	if err != nil {
		return "", err
	}
	reg, err := site.NewRegistry(new(site.TemplateEnv))
	if err != nil {
		return "", err
	}
	w := &machine.Writer{Registry: reg}
	if i.like != "" {
		if w.Like, err = machine.ReadContents(i.e.Files.ReadFile, i.like); err != nil {
			return "", err
		}
	}
	out, err := w.WriteContents(c)
	if err != nil {
		return "", err
	}
	select {
	case <-i.e.Stop:
		return "", site.ErrInterrupted
	default:
	}
	return cli.SaveSite(i.e, i.dir(h), out)
}
