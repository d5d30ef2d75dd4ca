package ssh

import "sync"

// A Schedule describes how many hosts run at a time, and when no more are begun.
type Schedule struct {
	// Parallel is the most hosts at a time.
	Parallel int
	// Serial is the size of a batch: the next batch begins when all hosts of one have ended. 0 for
	// one batch.
	Serial int
	// MaxFailed is the most hosts that may fail: after more no other host is begun. Negative for
	// any number.
	MaxFailed int
	// Stop is closed so that no other host is begun.
	Stop <-chan struct{}
}

// Run calls work for each host, and ended after each with its result, one at a time. It returns
// the hosts that were not begun.
func (m Schedule) Run(hosts []Host, failed func(Result) bool, work func(Host) Result, ended func(Result)) (left []Host) {
	batch := m.Serial
	if batch <= 0 {
		batch = len(hosts)
	}
	failures := 0
	var mu sync.Mutex
	over := func() bool {
		mu.Lock()
		defer mu.Unlock()
		select {
		case <-m.Stop:
			return true
		default:
			return m.MaxFailed >= 0 && failures > m.MaxFailed
		}
	}
	for len(hosts) > 0 {
		now := hosts[:min(batch, len(hosts))]
		hosts = hosts[len(now):]
		slots := make(chan struct{}, m.Parallel)
		var running sync.WaitGroup
		for i, h := range now {
			slots <- struct{}{}
			if over() {
				left = append(left, now[i:]...)
				break
			}
			running.Go(func() {
				defer func() { <-slots }()
				res := work(h)
				mu.Lock()
				defer mu.Unlock()
				if failed(res) {
					failures++
				}
				ended(res)
			})
		}
		running.Wait()
		if over() {
			return append(left, hosts...)
		}
	}
	return left
}
