package std

// untilEnd returns what f returns, or throws when the evaluation ends before that. It is
// for functions of other packages that take no context. One that is given up goes on
// until it is done, so it has to be done within seconds, and to use nothing but texts and
// what it makes itself.
func untilEnd[T any](c *call, f func() T) T {
	type outcome struct {
		value T
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panic = recover()
			done <- o
		}()
		o.value = f()
	}()
	ctx := c.in.Context()
	select {
	case o := <-done:
		if o.panic != nil {
			panic(o.panic)
		}
		return o.value
	case <-ctx.Done():
		c.must(ctx.Err())
		panic("unreachable")
	}
}
