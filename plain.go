package ccm

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/luaccm/ccm/runtime/diag"
)

// plainMap returns a map of a program as ccm knows data: nil, bool, int64, float64, string, []any and
// map[string]any. Name is that of the map in errors.
func plainMap(name string, m map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(m))
	for key, x := range m {
		v, err := plain(name+"["+key+"]", reflect.ValueOf(x))
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

func plain(name string, v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.Invalid:
		return nil, nil
	case reflect.Pointer, reflect.Interface:
		return plain(name, v.Elem())
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := v.Uint(); n <= math.MaxInt64 {
			return int64(n), nil
		}
		return nil, fmt.Errorf("%s: %w", name, diag.Too(strconv.FormatUint(v.Uint(), 10), "large"))
	case reflect.Float32, reflect.Float64:
		return v.Float(), nil
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			var err error
			if list[i], err = plain(fmt.Sprintf("%s[%d]", name, i), v.Index(i)); err != nil {
				return nil, err
			}
		}
		return list, nil
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			var err error
			if m[key.String()], err = plain(name+"["+key.String()+"]", v.MapIndex(key)); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	return nil, fmt.Errorf("%s: %w", name, diag.Expected("a string, boolean, number, slice or map").Got("%s", v.Type()))
}
