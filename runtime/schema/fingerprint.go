package schema

import (
	"cmp"
	"math"
	"math/bits"
	"reflect"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Fingerprint returns a number that two structs share if they want the same,
// and that two that want something else practically never do. It is the same in
// every process. Properties that were left out do not count, so that a struct
// that gains one keeps its fingerprints.
func (s *Schema) Fingerprint(src any) uint64 {
	v := structOf(src)
	var h uint64
	for i := range s.Fields {
		f := &s.Fields[i]
		if x := v.Field(f.index); !x.IsZero() {
			h = Mixed(h, f.tag)
			h = mixValue(h, x)
		}
	}
	return h
}

// Mixed returns a fingerprint of the sequence of what h and x stand for.
func Mixed(h, x uint64) uint64 {
	h = bits.RotateLeft64(h, 23) ^ x
	h *= 0x9e3779b97f4a7c15 // odd, with bits all over: the golden ratio
	return h ^ h>>32
}

// MixedString is Mixed for a text.
func MixedString(h uint64, s string) uint64 { return Mixed(h, xxhash.Sum64String(s)) }

func mixValue(h uint64, v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.String:
		return MixedString(h, v.String())
	case reflect.Bool:
		if v.Bool() {
			return Mixed(h, 1)
		}
		return Mixed(h, 2)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Mixed(h, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return Mixed(h, v.Uint())
	case reflect.Float32, reflect.Float64:
		return Mixed(h, math.Float64bits(v.Float()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return Mixed(h, 3)
		}
		return mixValue(Mixed(h, 4), v.Elem())
	case reflect.Slice, reflect.Array:
		h = Mixed(h, uint64(v.Len()))
		for i := range v.Len() {
			h = mixValue(h, v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		h = Mixed(h, uint64(len(keys)))
		for _, k := range keys {
			h = mixValue(MixedString(h, k.String()), v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			h = mixValue(h, v.Field(i))
		}
	}
	return h
}
