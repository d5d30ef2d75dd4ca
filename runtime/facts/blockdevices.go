package facts

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// sector is the unit of sizes in /sys/class/block, whatever sectors the device has.
const sector = 512

// gatherBlockDevices reads the block devices and their partitions. Devices without a size, such as loop devices that
// are not in use, are left out. What is on a device is known where udev has looked at it.
func gatherBlockDevices(_ context.Context, v *host.View) (any, error) {
	const dir = "/sys/class/block/"
	run := running(v)
	names, err := run.ReadDir(dir)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for _, name := range names {
		d := blockDevice{run: run, name: name, dir: dir + name + "/"}
		text := d.text("size")
		size, err := strconv.ParseInt(text, 10, 64)
		if d.err == nil && text != "" && err != nil {
			return nil, fmt.Errorf("%ssize: %w", d.dir, diag.Expected("a number").Got("%q", text))
		}
		if size > 0 {
			branch[name] = d.facts(size * sector)
		}
		if d.err != nil {
			return nil, d.err
		}
	}
	return branch, nil
}

// A blockDevice is one device in /sys/class/block. The first error of a look is kept.
type blockDevice struct {
	run       *host.View
	name, dir string
	err       error
}

// text returns the text of a file of the device, "" if there is none.
func (d *blockDevice) text(file string) string {
	text, err := readText(d.run, path.Join(d.dir, file))
	if err != nil && d.err == nil {
		d.err = err
	}
	return text
}

func (d *blockDevice) facts(size int64) map[string]any {
	f := map[string]any{"size": size, "type": d.kind(), "readonly": d.text("ro") == "1"}
	whole := *d
	if d.text("partition") != "" {
		// /sys/class/block/sda1 is a link to .../block/sda/sda1.
		if target, err := d.run.Readlink(strings.TrimSuffix(d.dir, "/")); err == nil {
			if parent := path.Base(path.Dir(target)); parent != "." {
				f["parent"] = parent
				whole.dir = path.Join(path.Dir(strings.TrimSuffix(d.dir, "/")), parent) + "/"
			}
		}
	}
	f["rotational"] = whole.text("queue/rotational") == "1"
	f["removable"] = whole.text("removable") == "1"
	if whole.dir == d.dir {
		put(f, "vendor", d.text("device/vendor"))
		put(f, "model", d.text("device/model"))
		serial := d.text("device/serial")
		if serial == "" {
			serial = d.text("serial")
		}
		put(f, "serial", serial)
	}
	put(f, "mapper", d.text("dm/name"))
	if d.err == nil {
		d.err = whole.err
	}
	d.udev(f)
	return f
}

// kind returns the type of the device in the words of lsblk(8).
func (d *blockDevice) kind() string {
	if d.text("partition") != "" {
		return "part"
	}
	if uuid := d.text("dm/uuid"); uuid != "" {
		kind, _, _ := strings.Cut(uuid, "-")
		if strings.HasPrefix(kind, "part") {
			return "part"
		}
		return strings.ToLower(kind)
	}
	if d.text("dm/name") != "" {
		return "dm"
	}
	if level := d.text("md/level"); level != "" {
		return level
	}
	if strings.HasPrefix(d.name, "loop") {
		return "loop"
	}
	switch d.text("device/type") { // of SCSI
	case "1":
		return "tape"
	case "4", "5":
		return "rom"
	}
	return "disk"
}

// udev adds what udev found on the device.
func (d *blockDevice) udev(f map[string]any) {
	text, err := readText(d.run, "/run/udev/data/b"+d.text("dev"))
	if err != nil && d.err == nil {
		d.err = err
	}
	for line := range strings.Lines(text) {
		key, val, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		switch key {
		case "E:ID_FS_TYPE":
			put(f, "fstype", val)
		case "E:ID_FS_UUID":
			put(f, "uuid", val)
		case "E:ID_FS_LABEL":
			put(f, "label", val)
		case "E:ID_SERIAL_SHORT":
			if f["serial"] == nil && f["parent"] == nil {
				put(f, "serial", val)
			}
		}
	}
}
