//go:build !linux

package testsystem

import (
	"context"
	"errors"
)

type nspawn struct{}

func (nspawn) Name() string { return nspawnName }

func (nspawn) Check() error { return errors.New("requires Linux") }

func (n nspawn) Make(context.Context, *Record) (System, error) { return nil, n.Check() }

func (n nspawn) Attach(context.Context, *Record) (System, error) { return nil, n.Check() }

func (nspawn) Reclaim(*Record) error { return nil }
