package schema

import (
	"cmp"
	"math"
	"math/bits"
	"reflect"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// Fingerprint returns a 64-bit hash of the properties in src that are set. It is the same
// in every process, and a schema that gains a property does not change it.
func (s *Schema) Fingerprint(src any) uint64 {
	v := structOf(src)
	var h uint64
	for i := range s.Fields {
		f := &s.Fields[i]
		if x := v.Field(f.index); !x.IsZero() {
			h = CombineHash(h, f.tag)
			h = combineValue(h, x)
		}
	}
	return h
}

// CombineHash returns a hash of the sequence of h and x.
func CombineHash(h, x uint64) uint64 {
	h = bits.RotateLeft64(h, 23) ^ x
	h *= 0x9e3779b97f4a7c15 // odd, with bits all over: the golden ratio
	return h ^ h>>32
}

// CombineHashString is CombineHash for a text.
func CombineHashString(h uint64, s string) uint64 { return CombineHash(h, xxhash.Sum64String(s)) }

func combineValue(h uint64, v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.String:
		return CombineHashString(h, v.String())
	case reflect.Bool:
		if v.Bool() {
			return CombineHash(h, 1)
		}
		return CombineHash(h, 2)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return CombineHash(h, uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return CombineHash(h, v.Uint())
	case reflect.Float32, reflect.Float64:
		return CombineHash(h, math.Float64bits(v.Float()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return CombineHash(h, 3)
		}
		return combineValue(CombineHash(h, 4), v.Elem())
	case reflect.Slice, reflect.Array:
		h = CombineHash(h, uint64(v.Len()))
		for i := range v.Len() {
			h = combineValue(h, v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		h = CombineHash(h, uint64(len(keys)))
		for _, k := range keys {
			h = combineValue(CombineHashString(h, k.String()), v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			h = combineValue(h, v.Field(i))
		}
	}
	return h
}
