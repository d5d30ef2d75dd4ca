package guard

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

// TokenAge is how long a token is valid.
const TokenAge = 2 * time.Minute

const (
	maxWrong    = 10
	maxSessions = 16
)

// A Login exchanges the token of the address for a session. The token is valid once, for two
// minutes. Ten wrong tokens end it.
type Login struct {
	// Program is the command that printed the address, such as "ccm studio".
	Program string
	// Secure keeps the session to connections with TLS, as behind a proxy.
	Secure bool
	cookie string // name of the cookie
	now    func() time.Time

	mu        sync.Mutex
	token     [sha256.Size]byte // digest of the token, all zero if there is none
	issueTime time.Time
	failures  int
	sessions  [][sha256.Size]byte // digests
}

// NewLogin returns the login of the page of a program, such as "ccm studio", at a host with a port.
// The cookie's name includes the port, because a browser sends the cookies of a host to all of its
// ports. now is [time.Now] except in tests.
func NewLogin(program, host string, now func() time.Time) *Login {
	port := host[strings.LastIndexByte(host, ':')+1:]
	return &Login{Program: program, cookie: strings.ReplaceAll(program, " ", "-") + "-" + port, now: now}
}

// where returns advice for a person without a session.
func (l *Login) where() string { return "open the address that " + l.Program + " printed" }

// Issue returns a new token. An earlier one is no longer valid.
func (l *Login) Issue() string {
	token := RandomText(32)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token, l.issueTime, l.failures = sha256.Sum256([]byte(token)), l.now(), 0
	return token
}

// redeem returns a session for a token, "" if the token is not valid.
func (l *Login) redeem(token string) (session string, why Refusal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(token))
	switch {
	case l.token == [sha256.Size]byte{} || l.now().Sub(l.issueTime) > TokenAge:
		return "", Refusal{Error: "the address was already used or is older than two minutes", Hint: "press Enter in the terminal of " + l.Program + " for a new one"}
	case subtle.ConstantTimeCompare(sum[:], l.token[:]) != 1:
		if l.failures++; l.failures >= maxWrong {
			l.token = [sha256.Size]byte{}
		}
		return "", Refusal{Error: "wrong token", Hint: l.where()}
	}
	l.token = [sha256.Size]byte{}
	session = RandomText(32)
	l.sessions = append(l.sessions, sha256.Sum256([]byte(session)))
	if len(l.sessions) > maxSessions {
		l.sessions = l.sessions[1:]
	}
	return session, Refusal{}
}

// has reports whether a request carries a session.
func (l *Login) has(r *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := 0
	for _, c := range r.CookiesNamed(l.cookie) {
		sum := sha256.Sum256([]byte(c.Value))
		for i := range l.sessions {
			found |= subtle.ConstantTimeCompare(sum[:], l.sessions[i][:])
		}
	}
	return found == 1
}

// ServeHTTP answers POST /login: the request has the token of the address, the answer a cookie.
func (l *Login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
	}
	if !Decode(w, r, &in) {
		return
	}
	session, why := l.redeem(in.Token)
	if session == "" {
		Reply(w, http.StatusUnauthorized, why)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: l.cookie, Value: session, Path: "/", HttpOnly: true, Secure: l.Secure, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}
