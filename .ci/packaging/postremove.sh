#!/bin/sh
# /etc/ccm and the records of runs stay. Only dpkg --purge removes the records, with the backups in them. Files in
# /etc/ccm are never removed.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || :
fi
if [ "${1-}" = purge ]; then
  rm -rf /var/lib/ccm
fi
