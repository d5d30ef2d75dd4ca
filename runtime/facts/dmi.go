package facts

import (
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/host"
)

// gatherDMI reads what the firmware says about the hardware (SMBIOS), as the kernel has it in /sys. Serial numbers and
// the UUID are for root only, and absent for others. A machine with a device tree has its model and serial number.
func gatherDMI(_ context.Context, v *host.View) (any, error) {
	run := running(v)
	branch := make(map[string]any)
	for _, f := range []struct{ group, name, file string }{
		{"", "manufacturer", "sys_vendor"},
		{"product", "name", "product_name"},
		{"product", "version", "product_version"},
		{"product", "family", "product_family"},
		{"product", "serial_number", "product_serial"},
		{"product", "uuid", "product_uuid"},
		{"board", "manufacturer", "board_vendor"},
		{"board", "product", "board_name"},
		{"board", "serial_number", "board_serial"},
		{"board", "asset_tag", "board_asset_tag"},
		{"chassis", "manufacturer", "chassis_vendor"},
		{"chassis", "type", "chassis_type"},
		{"chassis", "serial_number", "chassis_serial"},
		{"chassis", "asset_tag", "chassis_asset_tag"},
		{"bios", "vendor", "bios_vendor"},
		{"bios", "version", "bios_version"},
		{"bios", "release_date", "bios_date"},
	} {
		text, err := readText(run, "/sys/class/dmi/id/"+f.file)
		if err != nil && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		if f.file == "chassis_type" {
			text = chassisType(text)
		}
		putIn(branch, f.group, f.name, text)
	}
	if len(branch) > 0 {
		return branch, nil
	}
	for name, file := range map[string]string{"name": "model", "serial_number": "serial-number"} {
		text, err := readText(run, "/proc/device-tree/"+file)
		if err != nil {
			return nil, err
		}
		putIn(branch, "product", name, strings.TrimRight(text, "\x00"))
	}
	if len(branch) == 0 {
		return nil, nil
	}
	return branch, nil
}

// putIn sets a fact in a table of branch, or in branch itself if group is "", unless text is empty.
func putIn(branch map[string]any, group, name, text string) {
	if text == "" {
		return
	}
	if group != "" {
		if branch[group] == nil {
			branch[group] = make(map[string]any)
		}
		branch = branch[group].(map[string]any)
	}
	branch[name] = text
}

// chassisTypes are the names of the SMBIOS specification (DSP0134, System Enclosure or Chassis Types), from 1.
var chassisTypes = []string{
	"Other", "Unknown", "Desktop", "Low Profile Desktop", "Pizza Box", "Mini Tower", "Tower", "Portable", "Laptop",
	"Notebook", "Hand Held", "Docking Station", "All in One", "Sub Notebook", "Space-saving", "Lunch Box",
	"Main Server Chassis", "Expansion Chassis", "SubChassis", "Bus Expansion Chassis", "Peripheral Chassis",
	"RAID Chassis", "Rack Mount Chassis", "Sealed-case PC", "Multi-system chassis", "Compact PCI", "Advanced TCA",
	"Blade", "Blade Enclosure", "Tablet", "Convertible", "Detachable", "IoT Gateway", "Embedded PC", "Mini PC", "Stick PC",
}

// chassisType returns the name for a number in the text of the kernel, or the text itself.
func chassisType(text string) string {
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(chassisTypes) {
		return chassisTypes[n-1]
	}
	return text
}
