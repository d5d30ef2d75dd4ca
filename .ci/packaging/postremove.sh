#!/bin/sh
# /etc/ccm and what runs have recorded stay. Only dpkg --purge removes the record, with the
# backups in it. What people wrote into /etc/ccm is never removed.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload || :
fi
if [ "${1-}" = purge ]; then
  rm -rf /var/lib/ccm
fi
