package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/luaccm/ccm/luaapi/std"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/manifest"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/safepath"
)

// Schemes of names in NATS: a key of a bucket, and an object of a store.
const (
	keyScheme    = "kv://"
	objectScheme = "obj://"
)

// isRemote reports whether a name is a URL or a name in NATS, rather than a file.
func isRemote(name string) bool {
	return fetch.IsURL(name) || strings.HasPrefix(name, keyScheme) || strings.HasPrefix(name, objectScheme)
}

// bucketAndKey returns the parts of a name such as kv://BUCKET/KEY.
func bucketAndKey(name, scheme string) (bucket, key string, err error) {
	bucket, key, ok := strings.Cut(strings.TrimPrefix(name, scheme), "/")
	if !ok || bucket == "" || key == "" {
		return "", "", diag.At(diag.Pos{}, diag.Expected("%sBUCKET/KEY", scheme).Got("%q", name))
	}
	return bucket, key, nil
}

// natsClients are the clients of a process, by context and by whether connections without TLS are
// allowed.
type natsClients map[string]*nats.Client

// A remote reads data and sites from URLs and NATS.
type remote struct {
	files   *Files
	stop    StopSignal
	clients natsClients
}

// remote returns the remote of the process.
func (p *Process) remote() remote {
	if p.clients == nil {
		p.clients = make(natsClients)
	}
	return remote{p.Files, p.Stop, p.clients}
}

// nats returns a client for NATS. Plain allows connections without TLS.
func (r remote) nats(context string, plain bool) *nats.Client {
	key := fmt.Sprint(context, " ", plain)
	if r.clients[key] == nil {
		policy := r.files.Trust()
		r.clients[key] = nats.New(nats.Options{Context: context, Check: policy.Check, Plain: plain || policy == nil})
	}
	return r.clients[key]
}

// explainNATS adds hints to the error of a request to NATS.
func explainNATS(err error) error {
	if nats.IsPlain(err) {
		return (&diag.Error{Err: diag.Not("", "trusted as root: %w", err)}).
			WithHint("use tls:// in the URL of the context, or --allow-insecure")
	}
	return err
}

// readData reads remote data.
func (r remote) readData(ctx context.Context, name, natsContext string) (shown string, text []byte, err error) {
	ctx, cancel := r.stop.Context(ctx)
	defer cancel()
	switch {
	case strings.HasPrefix(name, keyScheme):
		bucket, key, err := bucketAndKey(name, keyScheme)
		if err != nil {
			return name, nil, err
		}
		text, err := r.nats(natsContext, false).Value(ctx, bucket, key, safepath.LargestText)
		return name, text, r.stop.asInterruption(ctx, explainNATS(err))
	case strings.HasPrefix(name, objectScheme):
		bucket, key, err := bucketAndKey(name, objectScheme)
		if err != nil {
			return name, nil, err
		}
		object, err := r.nats(natsContext, false).Object(ctx, bucket, key, safepath.LargestText)
		if err != nil {
			return name, nil, r.stop.asInterruption(ctx, explainNATS(err))
		}
		defer object.Close()
		text, err := io.ReadAll(object)
		return name, text, r.stop.asInterruption(ctx, err)
	}
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return name, nil, diag.Expected("a URL such as https://example.org/data.yaml").Got("%q", name)
	}
	if err := r.checkPlainHTTP(u, false); err != nil {
		return fetch.RedactURL(u), nil, err
	}
	x, err := get(ctx, u, "", safepath.LargestText)
	if err != nil {
		return fetch.RedactURL(u), nil, r.stop.asInterruption(ctx, err)
	}
	defer x.Close()
	text, err = io.ReadAll(x)
	if err != nil {
		err = x.Failed(err)
	}
	return fetch.RedactURL(u), text, r.stop.asInterruption(ctx, err)
}

// checkPlainHTTP returns an error if root would use plain http, which anybody on the way can
// change, unless the content is checked later.
func (r remote) checkPlainHTTP(u *url.URL, checked bool) error {
	if checked {
		return nil
	}
	return r.files.Trust().CheckPlain(u.String(), fetch.RedactURL(u), "use https, --sha256, --signers or --allow-insecure")
}

// source returns a remote hierarchy document.
func (r remote) source(name, natsContext string) (manifest.Source, error) {
	shown, text, err := r.readData(r.files.ctx, name, natsContext)
	if err != nil {
		return manifest.Source{}, fmt.Errorf("%s: %w", shown, err)
	}
	return manifest.Source{File: shown, Text: string(text)}, nil
}

// kvGet is the function of expressions and templates. In a run, each key has one value.
func (l *siteLoader) kvGet(bucket, key string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := keyScheme + bucket + "/" + key
	if val, ok := l.keys[name]; ok {
		return val, nil
	}
	_, text, err := l.process.remote().readData(l.process.Files.ctx, name, l.options.Data.Context)
	if err != nil {
		return "", err
	}
	if l.keys == nil {
		l.keys = make(map[string]string)
	}
	l.keys[name] = string(text)
	sum := sha256.Sum256(text)
	l.site.inputs.add(std.Input{Kind: "kv", Name: name, Value: hex.EncodeToString(sum[:]), Text: string(text)})
	return string(text), nil
}
