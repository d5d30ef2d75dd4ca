package host

// ReadUpTo returns the content of the regular file at the path, links followed.
// A file that holds more than limit bytes is an error, and so is anything that
// is no file: it waits neither for a pipe nor for a file of the kernel.
func (v *View) ReadUpTo(name string, limit int64) ([]byte, error) {
	if o := v.planned(); o != nil {
		return o.ReadUpTo(name, limit)
	}
	return v.files.ReadRegular(name, limit)
}
