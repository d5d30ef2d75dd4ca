package agent

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/luaccm/ccm/fleet/retry"
	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host/fetch"
	"github.com/luaccm/ccm/runtime/nats"
	"github.com/luaccm/ccm/runtime/safepath"
)

const dataDir = "data"

// dataTopic is the topic of data among the reportedLines.
const dataTopic = "data"

// dataTries is the number of attempts to fetch external data before the last good data is used.
const dataTries = 10

// A dataSource is external data, which is fetched before each run. It is kept on disk for runs
// without a network.
type dataSource struct {
	x        *access
	url      string
	shownURL string // the URL without credentials
	file     string // below the cache directory; "" for a local file
	nats     *natsClient
	stale    time.Time // since when it could not be fetched; zero if it could
}

// newData returns external data; nil for none.
func (x *access) newData(name string) (*dataSource, error) {
	if name == "" {
		return nil, nil
	}
	d := &dataSource{x: x, url: name, shownURL: name}
	if filepath.IsAbs(name) {
		return d, nil
	}
	if isHTTP(name) {
		u, err := url.Parse(name)
		if err != nil {
			return nil, err
		}
		d.shownURL = fetch.RedactURL(u)
	} else {
		d.nats = x.nats(false)
	}
	ext := path.Ext(d.shownURL)
	if ext != ".json" {
		ext = ".yaml"
	}
	d.file = path.Join(dataDir, slug(d.shownURL)+"-"+fingerprint(name)[:8]+ext)
	return d, x.store.root.MkdirAll(dataDir, 0o700)
}

func (d *dataSource) close() {
	if d != nil && d.nats != nil {
		d.nats.close()
	}
}

// path returns the argument of --data; "" if there is no data yet.
func (d *dataSource) path() string {
	if d.file == "" {
		return d.url
	}
	if _, err := d.x.store.root.Stat(d.file); err != nil {
		return ""
	}
	return filepath.Join(d.x.store.path, filepath.FromSlash(d.file))
}

// refresh fetches the data again. After an error the last good data stays.
func (d *dataSource) refresh(ctx context.Context) error {
	if d.file == "" {
		return nil
	}
	text, err := d.read(ctx)
	if err != nil {
		return err
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return diag.Empty("file")
	}
	old, err := d.x.store.root.ReadFile(d.file)
	if err == nil && string(old) == string(text) {
		return nil
	}
	return d.x.store.writeFile(d.file, text, true)
}

// read reads the data at the URL.
func (d *dataSource) read(ctx context.Context) (text []byte, err error) {
	if d.nats == nil {
		return d.readHTTP(ctx)
	}
	scheme := keyScheme
	if strings.HasPrefix(d.url, objectScheme) {
		scheme = objectScheme
	}
	bucket, key, err := bucketAndKey(d.url, scheme)
	if err != nil {
		return nil, err
	}
	err = d.nats.use(func(c *nats.Client) error {
		if scheme == keyScheme {
			text, err = c.Value(ctx, bucket, key, safepath.LargestText)
			return err
		}
		r, err := c.Object(ctx, bucket, key, safepath.LargestText)
		if err != nil {
			return err
		}
		defer r.Close()
		text, err = io.ReadAll(r)
		return err
	})
	return text, explainNATS(err)
}

func (d *dataSource) readHTTP(ctx context.Context) ([]byte, error) {
	u, err := url.Parse(d.url)
	if err != nil {
		return nil, err
	}
	if err := d.x.checkPlainHTTP(u, false); err != nil {
		return nil, err
	}
	t := fetch.NewTransport()
	defer closeIdle(t)
	x := fetch.New(ctx, fetch.Request{URL: u}, safepath.LargestText)
	defer x.Close()
	if err := x.Open(t); err != nil {
		return nil, x.Failed(err)
	}
	return io.ReadAll(transferReader{x})
}

// prepareData provides the data for the next run, as new as possible. After ten failed attempts
// it uses the last good data, and from then on tries only once before each run until newer data
// comes.
func (a *Agent) prepareData(ctx context.Context) (file string, err error) {
	d := a.data
	if d == nil {
		return "", nil
	}
	tries := dataTries
	if !d.stale.IsZero() {
		tries = 1
	}
	b := retry.Backoff{Min: a.timing.BackoffLeast, Max: a.timing.BackoffMost}
	for try := 1; ; try++ {
		began := a.now()
		err = d.refresh(ctx)
		a.metrics.addDuration(metricDataTime, a.now().Sub(began))
		if err == nil {
			if len(a.memory[dataTopic]) > 0 {
				a.log.Info(fmt.Sprintf("%s: available again", d.shownURL))
			}
			a.memory.unreported(dataTopic, nil)
			d.stale = time.Time{}
			break
		}
		a.metrics.count(metricDataErrors, d.shownURL)
		if ctx.Err() != nil || try >= tries {
			break
		}
		if try == 1 {
			for _, text := range a.memory.unreported(dataTopic, []string{message(err)}) {
				a.log.Warn(fmt.Sprintf("%s: %s; retrying", d.shownURL, text))
			}
		}
		if !retry.Sleep(ctx, b.Delay(try, a.random)) {
			break
		}
	}
	file = d.path()
	if err != nil {
		if file == "" {
			return "", fmt.Errorf("%s: %w", d.shownURL, err)
		}
		if d.stale.IsZero() && ctx.Err() == nil {
			d.stale = a.now()
			a.log.Warn(fmt.Sprintf("%s: %s; using the last good data", d.shownURL, message(err)))
		}
	}
	a.status.update(func(s *Status) { s.Data = d.status(err) })
	return file, nil
}
