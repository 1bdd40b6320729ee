#!/bin/bash
# Enables and starts the unit of this package. Called by dpkg, which sets DPKG_MAINTSCRIPT_PACKAGE.
set -euo pipefail
: "${DPKG_MAINTSCRIPT_PACKAGE:?}"

case "$DPKG_MAINTSCRIPT_PACKAGE" in
  kubelet) unit=kubelet.service ;;
  containerd.io) unit=containerd.service ;;
  *) exit 0 ;;
esac

[[ $1 == configure ]] || exit 0
deb-systemd-helper unmask "$unit" >/dev/null
deb-systemd-helper enable "$unit" >/dev/null
# In a chroot, systemd does not run. The unit starts at the next boot.
[[ -d /run/systemd/system ]] || exit 0
systemctl daemon-reload
if [[ -n ${2-} ]]; then
  deb-systemd-invoke restart "$unit"
else
  deb-systemd-invoke start "$unit"
fi
