//go:build !linux

package testsystem

import (
	"context"

	"github.com/luaccm/ccm/runtime/diag"
)

type nspawn struct{}

func (nspawn) Name() string { return nspawnName }

func (nspawn) Check() error { return diag.Requires("", "Linux") }

func (n nspawn) Make(context.Context, *Record) (System, error) { return nil, n.Check() }

func (n nspawn) Attach(context.Context, *Record) (System, error) { return nil, n.Check() }

func (nspawn) Reclaim(*Record) error { return nil }
