package facts

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/luaccm/ccm/runtime/diag"
	"github.com/luaccm/ccm/runtime/host"
)

// gatherLoad reads the average number of processes that run or wait (proc_loadavg(5)).
func gatherLoad(_ context.Context, v *host.View) (any, error) {
	text, err := readText(running(v), "/proc/loadavg")
	if text == "" || err != nil {
		return nil, err
	}
	fields := strings.Fields(text)
	branch := make(map[string]any)
	for i, name := range []string{"1m", "5m", "15m"} {
		if i >= len(fields) {
			break
		}
		if branch[name], err = strconv.ParseFloat(fields[i], 64); err != nil {
			return nil, fmt.Errorf("/proc/loadavg: %w", diag.Expected("a number").Got("%q", fields[i]))
		}
	}
	return branch, nil
}

func gatherUptime(_ context.Context, v *host.View) (any, error) {
	seconds, err := readUptime(running(v))
	if seconds == 0 || err != nil {
		return nil, err
	}
	return int64(seconds), nil
}

// gatherBoot describes the last start of the machine.
func gatherBoot(_ context.Context, v *host.View) (any, error) {
	run := running(v)
	at, err := readBootTime(run)
	if err != nil {
		return nil, err
	}
	id, err := readText(run, "/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	put(branch, "id", id)
	if at != 0 {
		branch["time"] = int64(at)
	}
	if len(branch) == 0 {
		return nil, nil
	}
	return branch, nil
}

// gatherModules reads the loaded modules of the kernel (proc_modules(5)). What is built into it is not there.
func gatherModules(_ context.Context, v *host.View) (any, error) {
	text, err := readText(running(v), "/proc/modules")
	if text == "" || err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for line := range strings.Lines(text) {
		// name size references users, state address
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		size, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("/proc/modules: %w", diag.Expected("a number").Got("%q", fields[1]))
		}
		users := []any{}
		for user := range strings.SplitSeq(strings.Trim(fields[3], ",-"), ",") {
			if user != "" && user != "[permanent]" {
				users = append(users, user)
			}
		}
		branch[fields[0]] = map[string]any{"size": size, "used_by": users}
	}
	return branch, nil
}

// gatherSwap reads swap space and where it is (proc_swaps(5)).
func gatherSwap(_ context.Context, v *host.View) (any, error) {
	run := running(v)
	text, err := readText(run, "/proc/meminfo")
	if text == "" || err != nil {
		return nil, err
	}
	branch := make(map[string]any)
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		key := map[string]string{"SwapTotal": "total", "SwapFree": "free"}[name]
		if key == "" {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("/proc/meminfo: %w", diag.Expected("a number").Got("%q", line))
		}
		branch[key] = kib * 1024
	}
	devices := []any{}
	if text, err = readText(run, "/proc/swaps"); err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		// Filename Type Size Used Priority
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[0] == "Filename" {
			continue
		}
		device := map[string]any{"device": unescapeMount(fields[0]), "type": fields[1]}
		for i, name := range map[int]string{2: "size", 3: "used", 4: "priority"} {
			n, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				return nil, fmt.Errorf("/proc/swaps: %w", diag.Expected("a number").Got("%q", fields[i]))
			}
			if name != "priority" {
				n *= 1024
			}
			device[name] = n
		}
		devices = append(devices, device)
	}
	branch["devices"] = devices
	return branch, nil
}
