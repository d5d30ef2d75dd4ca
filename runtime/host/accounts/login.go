package accounts

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/safepath"
)

// An Entry is the entry of a user in passwd(5).
type Entry struct {
	Name        string
	UID, GID    uint32
	Home, Shell string
}

// Entry returns the entry of the user with a number. A number without an entry has no name, and its
// group is not known.
func (a *Accounts) Entry(uid uint32) (Entry, error) {
	f, fi, err := a.Users.open()
	if err != nil {
		return Entry{}, err
	}
	text, err := safepath.ReadOpened(f, fi, a.Users.Path, safepath.LargestText)
	if err != nil {
		return Entry{}, err
	}
	if e, ok := findEntry(text, uid); ok {
		return e, nil
	}
	out, _ := a.Users.getent(strconv.FormatUint(uint64(uid), 10))
	if e, ok := findEntry(out, uid); ok {
		return e, nil
	}
	return Entry{UID: uid}, nil
}

func findEntry(text []byte, uid uint32) (Entry, bool) {
	number := strconv.FormatUint(uint64(uid), 10)
	for line := range bytes.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(string(line), "\n"), ":")
		if len(fields) < 7 || fields[2] != number {
			continue
		}
		gid, err := strconv.ParseUint(fields[3], 10, 32)
		if err != nil {
			continue
		}
		return Entry{Name: fields[0], UID: uid, GID: uint32(gid), Home: fields[5], Shell: fields[6]}, true
	}
	return Entry{}, false
}

// GroupsOf returns the groups of a user, according to id(1).
func (a *Accounts) GroupsOf(ctx context.Context, user string) ([]uint32, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, ok := a.Groups.query(ctx, []string{"id", "-G", user})
	var list []uint32
	for word := range strings.FieldsSeq(string(out)) {
		n, err := strconv.ParseUint(word, 10, 32)
		ok = ok && err == nil
		list = append(list, uint32(n))
	}
	if !ok {
		return nil, diag.Cannot("determine", fmt.Sprintf("the groups of user %q", user), diag.Unexpected("output of id -G: %q", strings.TrimSpace(string(out))))
	}
	slices.Sort(list)
	return list, nil
}

// patience is the time limit of a command that looks up one user or group.
const patience = 5 * time.Second
