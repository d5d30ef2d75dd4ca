// Command server is the web server of the integration tests: it serves the files of a directory on 127.0.0.1:8080,
// and notifies systemd when it is ready.
//
//	server DIRECTORY LOG
//
// Paths below /private/ require the user deploy, the password pa55-word and the header X-Token: t0ken-value. Paths
// below /moved/ redirect to the same path without it on localhost, which is another host for clients. Each request is
// a line of the log, but for HEAD, with which plans ask for sizes: the host, the path, the status and, if the request
// had credentials, "with credentials".
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

const address = "127.0.0.1:8080"

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server DIRECTORY LOG")
	}
	journal, err := os.OpenFile(os.Args[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	requests := log.New(journal, "", 0)
	files := http.FileServer(http.Dir(os.Args[1]))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &recorder{ResponseWriter: w, status: http.StatusOK}
		serve(answer, r, files)
		if r.Method == http.MethodHead {
			return
		}
		line := fmt.Sprint(r.Host, r.URL.Path, " ", answer.status)
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Token") != "" {
			line += " with credentials"
		}
		requests.Print(line)
	})
	listener, err := net.Listen("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	ready()
	log.Fatal(http.Serve(listener, handler))
}

func serve(w http.ResponseWriter, r *http.Request, files http.Handler) {
	user, password, _ := r.BasicAuth()
	allowed := user == "deploy" && password == "pa55-word" && r.Header.Get("X-Token") == "t0ken-value"
	rest, moved := strings.CutPrefix(r.URL.Path, "/moved/")
	switch {
	case moved:
		http.Redirect(w, r, "http://localhost:8080/"+rest, http.StatusFound)
	case strings.HasPrefix(r.URL.Path, "/private/") && !allowed:
		http.Error(w, "who are you?", http.StatusUnauthorized)
	default:
		files.ServeHTTP(w, r)
	}
}

// A recorder records the status of a response.
type recorder struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// ready notifies systemd that the server listens (sd_notify(3)).
func ready() {
	conn, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
	if err == nil {
		_, err = conn.Write([]byte("READY=1"))
	}
	if err != nil {
		log.Fatal(err)
	}
}
