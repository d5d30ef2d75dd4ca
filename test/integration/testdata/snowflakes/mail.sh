# A mail server: Postfix, Dovecot and OpenDKIM.
set -eu
case $1 in
setup)
	export DEBIAN_FRONTEND=noninteractive
	echo 'postfix postfix/main_mailer_type select Internet Site
postfix postfix/mailname string mail.example.org' | debconf-set-selections
	apt-get -qq -y install --no-install-recommends postfix dovecot-imapd opendkim > /dev/null 2>&1
	postconf -e 'smtpd_tls_security_level = may' 'home_mailbox = Maildir/' 'message_size_limit = 26214400' \
		'virtual_alias_maps = hash:/etc/postfix/virtual' 'mynetworks = 127.0.0.0/8 192.0.2.0/24' 'smtpd_banner = $myhostname ESMTP ready' \
		'relayhost = [smtp.example.net]:587' 'smtp_sasl_auth_enable = yes' 'smtp_sasl_password_maps = hash:/etc/postfix/sasl_passwd'
	echo 'info@example.org ada' > /etc/postfix/virtual
	postmap /etc/postfix/virtual
	echo '[smtp.example.net]:587 ada:correct-horse-9' > /etc/postfix/sasl_passwd
	chmod 600 /etc/postfix/sasl_passwd
	postmap /etc/postfix/sasl_passwd
	echo 'root: ada' >> /etc/aliases
	newaliases
	sed -i 's|^mail_location = .*|mail_location = maildir:~/Maildir|' /etc/dovecot/conf.d/10-mail.conf
	sed -i 's|^#login_greeting = .*|login_greeting = Mail of example.org|' /etc/dovecot/dovecot.conf
	mkdir -p /etc/opendkim/keys/example.org
	openssl genrsa -out /etc/opendkim/keys/example.org/mail.private 2048 2> /dev/null
	chown -R opendkim: /etc/opendkim
	chmod 600 /etc/opendkim/keys/example.org/mail.private
	printf 'Domain\t\t\texample.org\nSelector\t\tmail\nKeyFile\t\t/etc/opendkim/keys/example.org/mail.private\n' >> /etc/opendkim.conf
	useradd -m -s /usr/sbin/nologin ada
	echo 'ada:Battery-Staple-7' | chpasswd
	systemctl restart postfix dovecot opendkim
	;;
data) ;;
check)
	bash -c 'exec 3<>/dev/tcp/127.0.0.1/25; head -1 <&3' | grep 'ESMTP ready'
	bash -c 'exec 3<>/dev/tcp/127.0.0.1/143; head -1 <&3' | grep 'Mail of example.org'
	printf 'a login ada Battery-Staple-7\na logout\n' | bash -c 'exec 3<>/dev/tcp/127.0.0.1/143; cat >&3; cat <&3' | grep '^a OK.*Logged in'
	postmap -q info@example.org hash:/etc/postfix/virtual | grep -x ada
	systemctl is-active opendkim
	;;
esac
