package std

// untilEnd returns the result of f, or throws when the evaluation ends before f. It is for
// functions of other packages that take no context. An abandoned f runs on to its end, so it must
// end within seconds, and use only texts and its own values.
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
