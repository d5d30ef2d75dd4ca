//go:build integration

package integration

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/luaccm/ccm/resources"
)

// units makes services in every state of systemd.
const units = `cd /etc/systemd/system
unit() { printf '[Unit]\nDescription=%s\n[Service]\n%b' "$1" "$2" > "$1"; }
run='ExecStart=/bin/sleep infinity\n' install='[Install]\nWantedBy=multi-user.target\n'
for name in up down enabled-runtime other changed gone dropin; do unit $name.service "$run$install"; done
for name in masked masked-up masked-runtime; do (cd /usr/lib/systemd/system; unit $name.service "$run$install"); done
unit static.service "$run"
unit also.service "$run[Install]\nAlso=up.socket\n"
unit named.service "$run${install}Alias=called.service\n"
unit t@.service "$run$install"
unit dies.service 'ExecStart=/bin/false\n'
unit stuck.service 'Type=notify\nTimeoutStartSec=infinity\nExecStart=/bin/sleep infinity\n'
unit flaps.service 'ExecStart=/bin/false\nRestart=always\nRestartSec=1h\n'
unit exited.service 'Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n'
unit bad.service "$install"
unit 'x\x2dy.service' "$run"
mkdir -p /opt/units /run/systemd/system; cp down.service /opt/units/linked.service; cp down.service /opt/units/linked-runtime.service
printf '#!/bin/sh\n### BEGIN INIT INFO\n# Provides: sysv\n# Default-Start: 2 3 4 5\n# Default-Stop: 0 1 6\n### END INIT INFO\nexit 0\n' > /etc/init.d/sysv
chmod 755 /etc/init.d/sysv; cp /etc/init.d/sysv /etc/init.d/sysv-off
systemctl daemon-reload
systemctl -q enable up named t@a t@b
systemctl -q enable --runtime enabled-runtime
systemctl -q link /opt/units/linked.service; systemctl -q link --runtime /opt/units/linked-runtime.service
systemctl start up static named t@a masked-up exited changed gone dropin 'x\x2dy.service' sysv
systemctl start dies flaps || :; systemctl start --no-block stuck
systemctl -q mask masked masked-up; systemctl -q mask --runtime masked-runtime
systemctl daemon-reload
systemd-run -q --unit=passing sleep infinity
ln -s other.service /etc/systemd/system/another.service
ln -s /etc/systemd/system/down.service multi-user.target.wants/down.service
echo '# changed' >> changed.service; rm gone.service; mkdir dropin.service.d; printf '[Service]\nNice=1\n' > dropin.service.d/nice.conf
printf '[Service]\n%b' "$run" > unread.service`

// The states of units on the bus equal those of systemctl, for all units of the test and of the system.
func TestServicesOverBus(t *testing.T) {
	l := boot(t, debian)
	l.sh(units)
	names := strings.Fields(l.sh(`systemctl list-unit-files --no-legend --plain | awk '{print $1}'; systemctl list-units --all --no-legend --plain | awk '{print $1}'`))
	// For a template systemctl fails, and prints nothing about the other names either.
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "@.") })
	states := map[string]string{
		"absent": "", "up": "active enabled", "down": "inactive enabled", "enabled-runtime": "inactive enabled-runtime",
		"masked": "inactive masked", "masked-up": "active masked", "masked-runtime": "inactive masked-runtime",
		"static": "active static", "also": "inactive indirect", "named": "active enabled", "called": "active enabled",
		"other": "inactive indirect", "another": "inactive indirect", "changed": "active disabled", "gone": "", "dropin": "active disabled",
		"t@a": "active enabled", "t@b": "inactive enabled", "t@c": "inactive disabled", "dies": "failed static", "stuck": "activating static",
		"flaps": "activating static", "exited": "active static", "bad": "inactive disabled", "linked": "inactive linked", "linked-runtime": "inactive linked-runtime",
		"sysv": "active disabled", "sysv-off": "inactive disabled", "passing": "active transient", "unread": "inactive static", `x\x2dy`: "active static",
	}
	names = append(names, slices.Sorted(maps.Keys(states))...)
	report := l.services(names...)
	require.Greater(t, len(names), 150)
	for _, s := range report.Services {
		assert.Equal(t, s.Command, s.Bus, "%s", s.Name)
		if want, ok := states[s.Name]; ok {
			assert.Empty(t, s.Bus.Err, s.Name)
			assert.Equal(t, want, strings.TrimSpace(s.Bus.State.Active+" "+s.Bus.State.Startup), s.Name)
		}
	}
	require.Zero(t, report.Shows, "systemctl was not asked what the bus told")
	require.Positive(t, report.Commands)

	// Names that are not valid names of units are left to systemctl.
	report = l.services("t@", "up", "u*", "no such")
	for _, s := range report.Services {
		assert.Equal(t, s.Command, s.Bus, "%s", s.Name)
	}
	require.NotEmpty(t, report.Services[0].Bus.Err)
	require.Empty(t, report.Services[1].Bus.Err)
	require.Positive(t, report.Shows)
}

// A servicesReport is the output of the program services.
type servicesReport struct {
	Services []struct {
		Name         string
		Bus, Command struct {
			State resources.ServiceState
			Err   string
		}
	}
	Shows, Commands int
}

// services reads the states of services in the lab in both ways.
func (l *lab) services(names ...string) (report servicesReport) {
	l.t.Helper()
	out := l.exec(append([]string{"/opt/ccm/services"}, names...)...)
	require.Zero(l.t, out.status, "%s", out.stderr)
	require.NoError(l.t, json.Unmarshal([]byte(out.stdout), &report))
	require.Len(l.t, report.Services, len(names))
	return report
}
