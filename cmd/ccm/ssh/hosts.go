package ssh

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/luaccm/ccm/cmd/ccm/cli"
	"github.com/luaccm/ccm/fleet/inventory"
	"github.com/luaccm/ccm/fleet/ssh"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/trust"
)

// hostList returns the hosts of the arguments and of --hosts. With -i the arguments are patterns of
// the inventory.
func (f *sshFlags) hostList(ctx context.Context, e *cli.Env, names []string) (hosts []ssh.Host, err error) {
	if len(f.inventories) > 0 {
		if hosts, err = f.inventoryHosts(ctx, e, names); err != nil {
			return nil, err
		}
		names = nil
	}
	for _, name := range names {
		if err := ssh.CheckName(name); err != nil {
			return nil, diag.Errorf(diag.Pos{}, "%v", err)
		}
		hosts = append(hosts, ssh.Host{Name: name})
	}
	if f.hosts != "" {
		list, err := f.readHosts(e)
		if err != nil {
			return nil, err
		}
		hosts = append(list, hosts...) // for a host in both, the file counts
	}
	if hosts = ssh.Distinct(hosts); len(hosts) == 0 {
		return nil, diag.At(diag.Pos{}, diag.Expected("at least one host")).WithHint("ccm ssh web1 -- facts")
	}
	return hosts, nil
}

// printHosts prints the selected hosts: a table, or with --output json one object a line.
func (f *sshFlags) printHosts(ctx context.Context, e *cli.Env, names []string) error {
	hosts, err := f.hostList(ctx, e, names)
	if err != nil {
		return err
	}
	var rows [][]string
	lines := json.NewEncoder(e.Stdout)
	for i := range hosts {
		address, user, port := hosts[i].Destination()
		if f.output.Value == "json" {
			err = lines.Encode(listedHost{Name: hosts[i].Name, Address: address, User: user, Port: port})
		} else {
			if port != "" {
				address = net.JoinHostPort(address, port)
			}
			rows = append(rows, []string{hosts[i].Name, address, cmp.Or(user, "-")})
		}
		if err != nil {
			return err
		}
	}
	e.Print().Table(rows)
	return nil
}

// A listedHost is a host in the output of --list-hosts.
type listedHost struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	User    string `json:"user,omitempty"`
	Port    string `json:"port,omitempty"`
}

// readHosts reads the file of --hosts.
func (f *sshFlags) readHosts(e *cli.Env) ([]ssh.Host, error) {
	if f.hosts == "-" {
		return ssh.ReadHosts(e.Stdin, "standard input")
	}
	text, err := e.Files.ReadFile(f.hosts) // which may be <(a program) of a shell
	if err != nil {
		return nil, err
	}
	return ssh.ReadHosts(bytes.NewReader(text), f.hosts)
}

// inventoryHosts returns the hosts of inventories that patterns select.
func (f *sshFlags) inventoryHosts(ctx context.Context, e *cli.Env, patterns []string) ([]ssh.Host, error) {
	ctx, cancel := e.Stop.Context(ctx)
	defer cancel()
	// Inventories that are run as programs must belong to root or to the user of ccm, whoever that is.
	own := trust.Of(0, os.Getenv)
	own.Owners = append(own.Owners, uint32(os.Geteuid()))
	inv, err := inventory.Read(ctx, f.inventories, func(path string, runs bool) error {
		if runs && !e.Files.AllowInsecure {
			return own.CheckFound(path)
		}
		return e.Files.Trust().Check(path)
	})
	if err != nil {
		return nil, err
	}
	list, err := inv.Select(patterns)
	if err != nil {
		return nil, err
	}
	hosts := make([]ssh.Host, len(list))
	var unknown unknownVariables
	for i := range list {
		if hosts[i], err = inventoryHost(&list[i], unknown.add); err != nil {
			return nil, err
		}
	}
	unknown.warn(e)
	return hosts, nil
}

// passwords are variables of Ansible that ssh could not be given.
var passwords = []string{"ansible_password", "ansible_ssh_pass", "ansible_become_password", "ansible_become_pass", "ansible_sudo_pass"}

// inventoryHost returns the connection and the facts of a host in an inventory: variables
// ansible_... describe the connection, all others are facts. It calls unknown for variables whose
// values cannot be known.
func inventoryHost(h *inventory.Host, unknown func(*inventory.UnknownError)) (s ssh.Host, err error) {
	s.Name = h.Name
	mistake := func(name string, err error) error {
		return diag.Errorf(diag.Pos{}, "host %s of the inventory: %s: %v", h.Name, name, err)
	}
	// text returns the first of the variables with these names that exists.
	text := func(names ...string) string {
		for _, name := range names {
			v, e := h.Variable(name)
			if err = errors.Join(err, e); v != nil && e == nil {
				return fmt.Sprint(v)
			}
		}
		return ""
	}
	for _, name := range passwords {
		if text(name) != "" || err != nil {
			return s, diag.At(diag.Pos{}, diag.SubjectCannot("ccm", "read passwords from files: host %s of the inventory sets %s", h.Name, name)).
				WithHint("use SSH keys, and --ask-sudo-pass for sudo")
		}
	}
	address, port, user := text("ansible_host", "ansible_ssh_host"), text("ansible_port", "ansible_ssh_port"), text("ansible_user", "ansible_ssh_user")
	key, connection := text("ansible_ssh_private_key_file", "ansible_private_key_file"), text("ansible_connection")
	var further []string
	for _, name := range []string{"ansible_ssh_common_args", "ansible_ssh_extra_args"} {
		words, e := shellquote.Split(text(name))
		if e != nil {
			return s, mistake(name, e)
		}
		further = append(further, words...)
	}
	become, method, as := text("ansible_become"), text("ansible_become_method"), text("ansible_become_user")
	if err != nil {
		return s, err
	}
	if !slices.Contains([]string{"", "ssh", "smart", "paramiko", "paramiko_ssh"}, connection) {
		return s, mistake("ansible_connection", diag.Expected("ssh").Got("%q", connection))
	}
	switch strings.ToLower(become) {
	case "", "no", "n", "off", "0", "false", "f": // as Ansible reads them
	case "yes", "y", "on", "1", "true", "t":
		if s.Become, err = becomeOf(method, as); err != nil {
			return s, mistake("ansible_become", err)
		}
	default:
		return s, mistake("ansible_become", diag.Expected("true or false").Got("%q", become))
	}
	if s.Reach(address, port, user, key, further); err == nil {
		err = s.Check()
	}
	if err != nil {
		return s, mistake("ansible_host, ansible_port or ansible_user", err)
	}
	s.Facts = h.Facts(func(name string) bool { return strings.HasPrefix(name, "ansible_") }, unknown)
	return s, nil
}

// unknownVariables are the variables that are left out of facts, with their hosts.
type unknownVariables struct {
	list  []*inventory.UnknownError
	hosts map[inventory.UnknownError]int // number of hosts by variable; Host of the key is ""
}

func (u *unknownVariables) add(err *inventory.UnknownError) {
	key := *err
	key.Host = ""
	if u.hosts == nil {
		u.hosts = make(map[inventory.UnknownError]int)
	}
	if u.hosts[key]++; u.hosts[key] == 1 {
		u.list = append(u.list, err)
	}
}

// warn tells of each variable once.
func (u *unknownVariables) warn(e *cli.Env) {
	for _, err := range u.list {
		key := *err
		key.Host = ""
		of := err.Host
		if n := u.hosts[key]; n > 1 {
			of = fmt.Sprintf("%s and %d more", of, n-1)
		}
		e.Messages.Warn(fmt.Sprintf("%s: %s: %s; omitted from the facts of %s", err.At, err.Variable, err.Reason, of))
	}
}

// becomeOf returns the command for ansible_become_method.
func becomeOf(method, user string) ([]string, error) {
	if user != "" && user != "root" {
		return nil, diag.Expected("root").Got("the user %q", user)
	}
	switch method {
	case "", "sudo":
		return []string{"sudo", "-n"}, nil
	case "doas":
		return []string{"doas", "-n"}, nil
	}
	return nil, diag.Expected("the method sudo or doas").Got("%q", method)
}
