package std

// shortText is how many bytes of text any pattern is done with in a moment.
const shortText = 256

// untilEnd returns what f returns, or throws when the evaluation ends before that. It is
// for functions of other packages that take no context. One that is given up goes on
// until it is done or ccm ends, so f has to use nothing but texts and what it makes itself.
func untilEnd[T any](c *call, text string, f func() T) T {
	if len(text) <= shortText {
		return f()
	}
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
