#!/bin/bash
# Masks or purges the systemd unit of this package after its removal.
# Called by dpkg, which sets DPKG_MAINTSCRIPT_PACKAGE.
set -euo pipefail
: "${DPKG_MAINTSCRIPT_PACKAGE:?}"

case "$DPKG_MAINTSCRIPT_PACKAGE" in
  kubelet) unit=kubelet.service ;;
  containerd.io) unit=containerd.service ;;
  *) exit 0 ;;
esac

case "$1" in
  remove)
    deb-systemd-helper mask "$unit" >/dev/null
    ;;
  purge)
    deb-systemd-helper purge "$unit" >/dev/null
    deb-systemd-helper unmask "$unit" >/dev/null
    ;;
esac
if [[ -d /run/systemd/system ]]; then systemctl daemon-reload; fi
