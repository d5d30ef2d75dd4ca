//go:build integration

package integration

import "strings"

// fromArchive puts packages of Debian from the lab's archive into its repository of dnf. Each becomes one rpm with
// the files of the deb and of its NAME-common, without documentation, and without init scripts, of which systemd
// would make units. Their dependencies are in the lab.
func (l *lab) fromArchive(packages ...string) {
	l.t.Helper()
	l.sh("for name in " + strings.Join(packages, " ") + "; do\n" + debToRPM + "\ndone\n/srv/ccm-lab/bin/index; dnf -q clean expire-cache")
}

// debToRPM makes an rpm from the debs of $name. It runs where dpkg is hidden.
const debToRPM = `
	files=/tmp/rpm/$name
	mkdir -p $files
	for deb in /srv/ccm-lab/archive/$name-common_*.deb /srv/ccm-lab/archive/${name}_*.deb; do
		[ ! -e $deb ] || bsdtar -xOf $deb 'data.tar.*' | bsdtar -xpf - -C $files
	done
	version=${deb##*/"$name"_}
	version=${version%_*}
	if [ -d $files/lib ]; then
		cp -a $files/lib/. $files/usr/lib/
		rm -r $files/lib
	fi
	rm -rf $files/etc/init.d $files/usr/share/doc $files/usr/share/man
	{
		printf '%s\n' "Name: $name" "Version: ${version%%-*}" "Release: ${version#*-}" "Summary: Debian's $name" 'License: of Debian' \
			'AutoReqProv: no' 'Requires(post): /bin/sh' %description "Debian's." \
			%install 'mkdir -p %{buildroot}' "cp -a $files/. %{buildroot}/" %post 'systemctl daemon-reload || :' %files
		find $files -type d -path "$files/*$name*" -printf '%%dir /%P\n'
		find $files ! -type d -path "$files/etc/*" -printf '%%config(noreplace) /%P\n'
		find $files ! -type d ! -path "$files/etc/*" -printf '/%P\n'
	} > /tmp/rpm/spec
	rpmbuild --quiet -bb --define '_topdir /tmp/rpm/build' --define '_rpmdir /srv/ccm-lab/rpm' --define 'debug_package %{nil}' \
		--define '__os_install_post %{nil}' /tmp/rpm/spec > /tmp/rpm/log 2>&1 || { cat /tmp/rpm/log >&2; exit 1; }`
