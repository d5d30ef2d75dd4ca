# WordPress by hand: an archive unpacked below /var/www, nginx, PHP-FPM with a pool of its own, MariaDB.
set -eu
data() {
	mkdir -p /var/www/blog/wp-content/plugins
	i=0
	while [ $((i += 1)) -le 400 ]; do echo "<?php // plugin $i" > /var/www/blog/wp-content/plugins/p$i.php; done
	cat > /var/www/blog/wp-config.php <<-'X'
	<?php
	define('DB_NAME', 'blog');
	define('DB_USER', 'blog');
	define('DB_PASSWORD', 'Battery-Staple-7');
	define('AUTH_KEY', 'a6}H$kq2Jw!correct-horse-9');
	X
	echo '<?php require "wp-config.php"; $db = new mysqli("localhost", DB_USER, DB_PASSWORD, DB_NAME);
	echo $db->query("SELECT title FROM post")->fetch_row()[0], " ", ini_get("memory_limit"), " ", get_current_user();' > /var/www/blog/index.php
	chown -R blog:www-data /var/www/blog
	chmod 640 /var/www/blog/wp-config.php
	mysql -e "CREATE DATABASE blog; CREATE USER blog@localhost IDENTIFIED BY 'Battery-Staple-7';
		GRANT ALL ON blog.* TO blog@localhost; USE blog; CREATE TABLE post (title TEXT); INSERT INTO post VALUES ('Hello world')"
}
case $1 in
setup)
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq -y install --no-install-recommends nginx php-fpm php-mysql php-curl php-gd mariadb-server ssl-cert curl > /dev/null
	adduser --quiet --system --group --home /var/www/blog --no-create-home blog
	data
	sed -e 's/^\[www\]/[blog]/' -e 's/^user = .*/user = blog/' -e 's/^group = .*/group = blog/' \
		-e 's|^listen = .*|listen = /run/php/blog.sock|' /etc/php/8.2/fpm/pool.d/www.conf > /etc/php/8.2/fpm/pool.d/blog.conf
	echo 'php_admin_value[memory_limit] = 192M' >> /etc/php/8.2/fpm/pool.d/blog.conf
	mv /etc/php/8.2/fpm/pool.d/www.conf /etc/php/8.2/fpm/pool.d/www.conf.disabled
	mkdir -p /etc/nginx/ssl
	openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=blog.example.org -keyout /etc/nginx/ssl/blog.key -out /etc/nginx/ssl/blog.crt 2> /dev/null
	chmod 600 /etc/nginx/ssl/blog.key
	cat > /etc/nginx/sites-available/blog <<-'X'
	server {
	    listen 80;
	    listen 443 ssl;
	    server_name blog.example.org;
	    root /var/www/blog;
	    index index.php;
	    ssl_certificate /etc/nginx/ssl/blog.crt;
	    ssl_certificate_key /etc/nginx/ssl/blog.key;
	    client_max_body_size 64m;
	    location / { try_files $uri $uri/ /index.php?$args; }
	    location ~ \.php$ { include snippets/fastcgi-php.conf; fastcgi_pass unix:/run/php/blog.sock; }
	    location ~ /wp-config.php { deny all; }
	}
	X
	ln -s /etc/nginx/sites-available/blog /etc/nginx/sites-enabled/blog
	rm /etc/nginx/sites-enabled/default
	sed -i 's/# server_tokens off;/server_tokens off;/' /etc/nginx/nginx.conf
	mkdir -p /etc/systemd/system/nginx.service.d
	printf '[Service]\nLimitNOFILE=65536\nRestart=on-failure\n' > /etc/systemd/system/nginx.service.d/override.conf
	printf '[Unit]\nDescription=WordPress jobs\n[Service]\nType=oneshot\nUser=blog\nExecStart=/usr/bin/php /var/www/blog/index.php\n' > /etc/systemd/system/wp-cron.service
	printf '[Unit]\nDescription=WordPress jobs\n[Timer]\nOnCalendar=*:0/15\n[Install]\nWantedBy=timers.target\n' > /etc/systemd/system/wp-cron.timer
	systemctl daemon-reload
	systemctl -q enable --now wp-cron.timer
	systemctl restart php8.2-fpm nginx
	;;
data) data ;;
check) curl -sk --resolve blog.example.org:443:127.0.0.1 https://blog.example.org/ | grep -x 'Hello world 192M blog' && systemctl is-active wp-cron.timer ;;
esac
