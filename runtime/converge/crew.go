package converge

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A crew works for a walk on files that are under way: it writes them and gives them
// their places. Jobs take some microseconds each, which is less than it takes to wake a
// goroutine on another processor. So whoever has nothing to do looks for more for a
// moment, before going to sleep.
type crew struct {
	write func(*staged)
	place func(*writes)

	waiting atomic.Int64 // how many jobs nobody has taken
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
	c.waiting.Add(1)
	if c.asleep > 0 && (b != nil || len(c.files) >= fewJobs) {
		c.more.Signal() // for less nobody is woken: the walk helps before it needs them
	}
	c.mu.Unlock()
}

func (c *crew) work() {
	for done := 0; ; done++ { // since it has slept
		if done > fewJobs {
			soon(func() bool { return c.waiting.Load() > 0 })
		}
		c.mu.Lock()
		for c.batch == nil && len(c.files) == 0 {
			if c.over {
				c.mu.Unlock()
				return
			}
			done = 0
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
		c.waiting.Add(-1)
	}
	return b
}

// takeFile returns the next file to be written.
func (c *crew) takeFile() *staged {
	x := c.files[0]
	if c.files = c.files[1:]; len(c.files) == 0 {
		c.files = nil
	}
	c.waiting.Add(-1)
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

// A pending is what goroutines have to be done with.
type pending struct {
	left atomic.Int64
	all  sync.WaitGroup
}

func (p *pending) add() {
	p.left.Add(1)
	p.all.Add(1)
}

func (p *pending) done() {
	p.left.Add(-1)
	p.all.Done()
}

// wait returns when they are done with it.
func (p *pending) wait() {
	soon(func() bool { return p.left.Load() == 0 })
	p.all.Wait()
}

// aMoment is how long it is worth the while to wait for others without sleeping.
const aMoment = 200 * time.Microsecond

// soon waits a moment for something that others do, and reports whether it is so.
func soon(is func() bool) bool {
	if is() {
		return true
	}
	if runtime.GOMAXPROCS(0) == 1 {
		return false // nobody does anything meanwhile
	}
	for began := time.Now(); time.Since(began) < aMoment; {
		if is() {
			return true
		}
		runtime.Gosched() // others may have something to do
	}
	return false
}
