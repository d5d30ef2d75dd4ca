package studio

import (
	"net/http"
	"os"
	"os/user"

	"github.com/luaccm/ccm/studio/guard"
)

// session returns the page's first answer.
func (s *Server) session() Session {
	out := Session{
		Version: s.options.Process.Version, Directory: s.options.Directory, File: s.options.File,
		Root: os.Geteuid() == 0, Command: "ccm run",
	}
	out.Trusted, out.Reasons = s.gate.status()
	out.Host, _ = os.Hostname()
	if u, err := user.Current(); err == nil {
		out.User = u.Username
	}
	return out
}

// serveSession answers GET /api/session.
func (s *Server) serveSession(w http.ResponseWriter, _ *http.Request) {
	guard.Reply(w, http.StatusOK, s.session())
}
