# A file server that is watched: Samba, an exporter of Prometheus, a program below /opt, a firewall.
set -eu
case $1 in
setup)
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq -y install --no-install-recommends samba smbclient prometheus-node-exporter nftables curl > /dev/null 2>&1
	addgroup --quiet --gid 1500 office
	useradd -m -u 1501 -G office grace
	mkdir -p /srv/office
	chown root:office /srv/office
	chmod 2770 /srv/office
	echo 'from the office' > /srv/office/letter.txt
	printf 'Battery-Staple-7\nBattery-Staple-7\n' | smbpasswd -s -a grace > /dev/null
	cat >> /etc/samba/smb.conf <<-'X'

	[office]
	   path = /srv/office
	   valid users = @office
	   read only = no
	   create mask = 0660

	[public]
	   path = /srv
	   guest ok = yes
	X
	sed -i -e 's/^   workgroup = .*/   workgroup = OFFICE/' -e 's/^   map to guest = .*/   map to guest = never/' /etc/samba/smb.conf
	sed -i 's|^ARGS=.*|ARGS="--web.listen-address=127.0.0.1:9101 --collector.systemd"|' /etc/default/prometheus-node-exporter
	mkdir -p /opt/quota/bin /opt/quota/etc
	printf '#!/bin/sh\nwhile sleep 60; do du -s /srv/office > /run/quota; done\n' > /opt/quota/bin/quota
	chmod 755 /opt/quota/bin/quota
	printf 'limit = 10G\nwarn = 80\n' > /opt/quota/etc/quota.conf
	printf '[Unit]\nDescription=quota of the office\nAfter=smbd.service\n[Service]\nExecStart=/opt/quota/bin/quota\nRestart=always\n[Install]\nWantedBy=multi-user.target\n' > /etc/systemd/system/quota.service
	systemctl -q disable --now nmbd
	systemctl -q mask samba-ad-dc 2> /dev/null
	systemctl daemon-reload
	systemctl -q enable --now quota
	cat > /etc/nftables.conf <<-'X'
	#!/usr/sbin/nft -f
	flush ruleset
	table inet filter {
	    chain input { type filter hook input priority 0; policy drop; iif lo accept; tcp dport { 22, 445 } accept; }
	}
	X
	systemctl -q enable nftables
	systemctl restart smbd prometheus-node-exporter
	;;
data)
	chmod 2770 /srv/office 2> /dev/null || install -d -o root -g office -m 2770 /srv/office
	echo 'from the office' > /srv/office/letter.txt
	printf 'Battery-Staple-7\nBattery-Staple-7\n' | smbpasswd -s -a grace > /dev/null
	;;
check)
	smbclient //127.0.0.1/office -U grace%Battery-Staple-7 -c 'get letter.txt -' 2> /dev/null | grep 'from the office'
	curl -s http://127.0.0.1:9101/metrics | grep -c '^node_load1 '
	systemctl is-active quota
	;;
esac
