set -eu
dir=/etc/myapp
conf=$dir/app.conf
mkdir -p $dir
chown root:root $dir
chmod 0755 $dir

new=$(mktemp $dir/.new.XXXXXX)
trap 'rm -f "$new"' EXIT
printf 'port = 8080\n' > "$new"
chown root:root "$new"
chmod 0640 "$new"

is=$(stat -c %U:%G:%a $conf || true)
if [ "$is" != root:root:640 ] ||
   ! cmp -s "$new" $conf; then
  mv "$new" $conf
  systemctl reload myapp
fi
