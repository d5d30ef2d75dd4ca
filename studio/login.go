package studio

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	tokenAge    = 2 * time.Minute
	maxWrong    = 10
	maxSessions = 16
)

// A login turns the token of the address into a session. The token is used once, within two
// minutes. Ten wrong ones end it.
type login struct {
	cookie string // its name
	now    func() time.Time

	mu       sync.Mutex
	token    [sha256.Size]byte // its digest, all zero if there is none
	issued   time.Time
	wrong    int
	sessions [][sha256.Size]byte // digests
}

// newLogin returns the login of a page. A browser sends the cookies of a host to all of its
// ports, so that the name has the port in it.
func newLogin(host string, now func() time.Time) *login {
	_, port, _ := strings.Cut(host, ":")
	if at := strings.LastIndexByte(host, ':'); at >= 0 {
		port = host[at+1:]
	}
	return &login{cookie: "ccm-studio-" + port, now: now}
}

// issue returns a new token. An earlier one is good no more.
func (l *login) issue() string {
	token := randomText(32)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.token, l.issued, l.wrong = sha256.Sum256([]byte(token)), l.now(), 0
	return token
}

// redeem returns a session for a token, "" if the token is not good.
func (l *login) redeem(token string) (session string, why Failure) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum := sha256.Sum256([]byte(token))
	switch {
	case l.token == [sha256.Size]byte{} || l.now().Sub(l.issued) > tokenAge:
		return "", Failure{Error: "the address was used already, or is older than two minutes", Hint: "press Enter in the terminal of ccm studio for a new one"}
	case subtle.ConstantTimeCompare(sum[:], l.token[:]) != 1:
		if l.wrong++; l.wrong >= maxWrong {
			l.token = [sha256.Size]byte{}
		}
		return "", Failure{Error: "wrong token", Hint: "open the address that ccm studio printed"}
	}
	l.token = [sha256.Size]byte{}
	session = randomText(32)
	l.sessions = append(l.sessions, sha256.Sum256([]byte(session)))
	if len(l.sessions) > maxSessions {
		l.sessions = l.sessions[1:]
	}
	return session, Failure{}
}

// has reports whether a request carries a session.
func (l *login) has(r *http.Request) bool {
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

// serve answers POST /login.
func (l *login) serve(w http.ResponseWriter, r *http.Request) {
	var in Login
	if !decode(w, r, &in) {
		return
	}
	session, why := l.redeem(in.Token)
	if session == "" {
		fail(w, http.StatusUnauthorized, why)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: l.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}
