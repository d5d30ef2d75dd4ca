package spec

import (
	"context"
	"errors"
	"slices"

	lua "github.com/yuin/gopher-lua"

	"github.com/luaccm/ccm/runtime/diag"
)

// runBlock runs the tests of a block and of its inner blocks.
func (r *runner) runBlock(ctx context.Context, b *block) {
	if !r.hasWanted(b) {
		r.postpone(b)
		return
	}
	if err := r.callAll(ctx, b.setup); err != nil {
		r.failAll(b, err)
	} else {
		for _, p := range b.parts {
			if p.block != nil {
				r.runBlock(ctx, p.block)
				continue
			}
			r.runTest(ctx, p.test)
		}
	}
	if err := r.callAll(ctx, b.teardown); err != nil {
		var list diag.List
		list.Add(err)
		r.Report(Result{File: r.file, Name: blockName(b) + " teardown", Pos: list[0].Pos, Status: Error, Errs: list})
	}
	r.asserter.restore()
}

func blockName(b *block) string {
	if b.parent == nil {
		return "the file:"
	}
	return (&test{block: b.parent, name: b.name}).fullName() + ":"
}

// hasWanted reports whether a block has a test that is wanted.
func (r *runner) hasWanted(b *block) bool {
	return slices.ContainsFunc(b.parts, func(p part) bool {
		if p.block != nil {
			return r.hasWanted(p.block)
		}
		return r.isWanted(p.test) && (p.test.system == (r.Machine != nil))
	})
}

// isWanted reports whether a test is run, or is pending because it needs a machine.
func (r *runner) isWanted(t *test) bool {
	return r.Filter(t.fullName(), t.tags) && (r.Machine == nil || t.system)
}

// postpone reports the tests of a block that need a machine as pending. Its hooks are not called.
func (r *runner) postpone(b *block) {
	for _, p := range b.parts {
		switch {
		case p.block != nil:
			r.postpone(p.block)
		case r.Machine == nil && p.test.system:
			r.runTest(context.Background(), p.test)
		}
	}
}

// failAll reports that the tests of a block were not run because of err.
func (r *runner) failAll(b *block, err error) {
	for _, p := range b.parts {
		switch {
		case p.block != nil:
			r.failAll(p.block, err)
		case r.isWanted(p.test):
			res := r.result(p.test)
			res.set(err)
			r.Report(res)
		}
	}
}

func (r *runner) result(t *test) Result {
	return Result{File: r.file, Name: t.fullName(), Pos: t.pos, Tags: t.tags, Status: Success}
}

func (r *runner) runTest(ctx context.Context, t *test) {
	if !r.isWanted(t) {
		return
	}
	res := r.result(t)
	if t.system && r.Machine == nil {
		res.Errs.Add(&diag.Error{Pos: t.pos, Err: &pendingError{"requires a machine: ccm test --system debian:12"}})
	}
	if t.body == nil && t.trial == nil || len(res.Errs) > 0 {
		res.Status = Pending
		r.Report(res)
		return
	}
	start := r.Clock.Now()
	blocks := t.block.around()
	var err error
	for _, b := range blocks {
		if err = r.callAll(ctx, b.beforeEach); err != nil {
			break
		}
	}
	switch {
	case err != nil:
	case t.trial != nil:
		err = r.try(ctx, t)
	default:
		_, err = r.in.Invoke(ctx, t.body, 0)
	}
	for _, b := range slices.Backward(blocks) {
		err = errors.Join(err, r.callAll(ctx, b.afterEach))
	}
	r.asserter.restore()
	res.Duration = r.Clock.Now().Sub(start)
	res.set(err)
	r.Report(res)
}

// callAll calls functions in order, up to the first error.
func (r *runner) callAll(ctx context.Context, list []*lua.LFunction) error {
	for _, fn := range list {
		if _, err := r.in.Invoke(ctx, fn, 0); err != nil {
			return err
		}
	}
	return nil
}

// set records why a test has not succeeded.
func (res *Result) set(err error) {
	if err == nil {
		return
	}
	res.Errs.Add(err)
	res.Status = Failure
	for _, e := range res.Errs {
		if _, ok := errors.AsType[*pendingError](e.Err); ok && len(res.Errs) == 1 {
			res.Status = Pending
		} else if _, ok := errors.AsType[*failedError](e.Err); !ok {
			res.Status = Error
		}
	}
}
