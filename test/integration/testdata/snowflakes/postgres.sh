# A database server: PostgreSQL for a network, tuned, with a nightly dump.
set -eu
data() {
	su postgres -c "psql -q" <<-'X'
	CREATE ROLE shop LOGIN PASSWORD 'Battery-Staple-7';
	CREATE DATABASE shop OWNER shop;
	X
}
case $1 in
setup)
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq -y install --no-install-recommends postgresql > /dev/null
	cd /etc/postgresql/15/main
	sed -i -e "s/^#listen_addresses = .*/listen_addresses = '*'/" -e 's/^shared_buffers = .*/shared_buffers = 64MB/' -e 's/^max_connections = .*/max_connections = 60/' postgresql.conf
	printf 'work_mem = 8MB\nlog_min_duration_statement = 500\n' > conf.d/tuning.conf
	chown postgres: conf.d/tuning.conf
	echo 'host    shop    shop    192.0.2.0/24    scram-sha-256' >> pg_hba.conf
	printf 'postgres soft nofile 65536\npostgres hard nofile 65536\n' > /etc/security/limits.d/postgres.conf
	printf '#!/bin/sh\nset -e\ncd /srv/dumps\npg_dump shop > shop.sql\n' > /usr/local/sbin/dump-shop
	chmod 755 /usr/local/sbin/dump-shop
	install -d -o postgres -g postgres -m 750 /srv/dumps
	echo '30 1 * * * /usr/local/sbin/dump-shop' | crontab -u postgres - 2> /dev/null || printf '30 1 * * * postgres /usr/local/sbin/dump-shop\n' > /etc/cron.d/dump-shop
	echo '127.0.0.1:5432:shop:shop:Battery-Staple-7' > /etc/postgresql/pgpass
	chmod 600 /etc/postgresql/pgpass
	ln -sf /usr/share/zoneinfo/Europe/Berlin /etc/localtime
	echo Europe/Berlin > /etc/timezone
	echo '192.0.2.20 app1.example.org app1' >> /etc/hosts
	apt-mark -q hold postgresql-15 > /dev/null
	systemctl restart postgresql@15-main
	data
	;;
data) data ;;
check)
	PGPASSFILE=/etc/postgresql/pgpass psql -h 127.0.0.1 -U shop -At -c "SHOW shared_buffers; SHOW work_mem; SHOW max_connections" shop | tr '\n' ' ' | grep '64MB 8MB 60'
	getent hosts app1.example.org
	;;
esac
