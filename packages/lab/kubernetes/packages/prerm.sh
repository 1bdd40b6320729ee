#!/bin/bash
# Stops the unit of this package before its removal. Called by dpkg, which sets DPKG_MAINTSCRIPT_PACKAGE.
set -euo pipefail
: "${DPKG_MAINTSCRIPT_PACKAGE:?}"

case "$DPKG_MAINTSCRIPT_PACKAGE" in
  kubelet) unit=kubelet.service ;;
  containerd.io) unit=containerd.service ;;
  *) exit 0 ;;
esac

[[ $1 == remove && -d /run/systemd/system ]] || exit 0
deb-systemd-invoke stop "$unit"
