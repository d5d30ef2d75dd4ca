package converge

import (
	"runtime"
	"sync"
)

// A crew works for a walk on files that are under way: it writes them and gives them
// their places.
type crew struct {
	write func(*staged)
	place func(*writes)

	mu      sync.Mutex
	more    sync.Cond
	files   []*staged // to be written
	batch   *writes   // to get its places, or nil
	asleep  int
	over    bool
	workers sync.WaitGroup
}

// newCrew returns a crew that is at work until its end.
func newCrew(write func(*staged), place func(*writes)) *crew {
	c := &crew{write: write, place: place}
	c.more.L = &c.mu
	for range min(max(1, runtime.GOMAXPROCS(0)-1), 4) {
		c.workers.Go(c.work)
	}
	return c
}

// end ends the crew, which has nothing to do any more.
func (c *crew) end() {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.over = true
	c.more.Broadcast()
	c.mu.Unlock()
	c.workers.Wait()
}

// give has a file written, or the files of a batch given their places; the other is nil.
func (c *crew) give(x *staged, b *writes) {
	c.mu.Lock()
	if x != nil {
		c.files = append(c.files, x)
	}
	if b != nil {
		c.batch = b
	}
	if c.asleep > 0 && (b != nil || len(c.files) >= fewJobs) {
		c.more.Signal() // for less nobody is woken: the walk helps before it needs them
	}
	c.mu.Unlock()
}

func (c *crew) work() {
	for {
		c.mu.Lock()
		for c.batch == nil && len(c.files) == 0 {
			if c.over {
				c.mu.Unlock()
				return
			}
			c.asleep++
			c.more.Wait()
			c.asleep--
		}
		b := c.takeBatch()
		if b != nil {
			c.mu.Unlock()
			c.place(b)
			continue
		}
		x := c.takeFile()
		c.mu.Unlock()
		c.write(x)
	}
}

// takeBatch returns the batch of which the files are to be given their places, nil if
// there is none.
func (c *crew) takeBatch() *writes {
	b := c.batch
	if b != nil {
		c.batch = nil
	}
	return b
}

// takeFile returns the next file to be written.
func (c *crew) takeFile() *staged {
	x := c.files[0]
	if c.files = c.files[1:]; len(c.files) == 0 {
		c.files = nil
	}
	return x
}

// helpPlace gives the files of a batch their places, if nobody does it yet.
func (c *crew) helpPlace() {
	c.mu.Lock()
	b := c.takeBatch()
	c.mu.Unlock()
	if b != nil {
		c.place(b)
	}
}

// helpWrite writes files until there are none to be written.
func (c *crew) helpWrite() {
	for {
		c.mu.Lock()
		if len(c.files) == 0 {
			c.mu.Unlock()
			return
		}
		x := c.takeFile()
		c.mu.Unlock()
		c.write(x)
	}
}

// fewJobs is how many jobs do not mean yet that more will come at once.
const fewJobs = 4
