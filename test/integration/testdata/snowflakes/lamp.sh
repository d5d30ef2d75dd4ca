# A web shop on Apache, MariaDB and PHP, as the tutorials of hosting companies set it up.
set -eu
data() { # what a site does not hold: the pages and the database
	mkdir -p /var/www/shop
	echo '<?php $db = new mysqli("localhost", "shop", "Battery-Staple-7", "shop");
echo $db->query("SELECT name FROM item")->fetch_row()[0], " ", ini_get("upload_max_filesize");' > /var/www/shop/index.php
	chown -R www-data:www-data /var/www/shop
	mysql -e "CREATE DATABASE shop; CREATE USER shop@localhost IDENTIFIED BY 'Battery-Staple-7';
		GRANT ALL ON shop.* TO shop@localhost; USE shop; CREATE TABLE item (name TEXT); INSERT INTO item VALUES ('teapot')"
}
case $1 in
setup)
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq -y install --no-install-recommends apache2 mariadb-server php libapache2-mod-php php-mysql curl > /dev/null
	cat > /etc/apache2/sites-available/shop.conf <<-'X'
	<VirtualHost *:80>
	    ServerName shop.example.org
	    DocumentRoot /var/www/shop
	    <Directory /var/www/shop>
	        AllowOverride All
	    </Directory>
	    ErrorLog ${APACHE_LOG_DIR}/shop-error.log
	</VirtualHost>
	X
	a2enmod -q rewrite headers > /dev/null
	a2dissite -q 000-default > /dev/null
	a2ensite -q shop > /dev/null
	echo 'ServerName web1.example.org' > /etc/apache2/conf-available/servername.conf
	a2enconf -q servername > /dev/null
	sed -i 's/^ServerTokens .*/ServerTokens Prod/' /etc/apache2/conf-available/security.conf
	sed -i -e 's/^upload_max_filesize = .*/upload_max_filesize = 64M/' -e 's/^memory_limit = .*/memory_limit = 256M/' /etc/php/8.2/apache2/php.ini
	printf '[mysqld]\ninnodb_buffer_pool_size = 64M\nmax_connections = 50\n' > /etc/mysql/mariadb.conf.d/60-shop.cnf
	printf '#!/bin/sh\nset -e\nmysqldump -u backup -pcorrect-horse-9 shop | gzip > /var/backups/shop.sql.gz\n' > /usr/local/bin/backup-shop
	chmod 700 /usr/local/bin/backup-shop
	echo '15 2 * * * root /usr/local/bin/backup-shop' > /etc/cron.d/backup-shop
	useradd -m -s /bin/bash -G www-data,sudo ada
	install -d -o ada -g ada -m 700 /home/ada/.ssh
	echo 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAKCurmpVloAU/Hax81lP5G4IQXwU2xZsKBOLf45jpsv ada@laptop' > /home/ada/.ssh/authorized_keys
	chown ada: /home/ada/.ssh/authorized_keys
	chmod 600 /home/ada/.ssh/authorized_keys
	data
	systemctl restart mariadb apache2
	;;
data) data ;;
check) curl -s -H 'Host: shop.example.org' http://127.0.0.1/ | grep -x 'teapot 64M' && curl -sI http://127.0.0.1/ | grep '^Server: Apache.\?$' ;;
esac
