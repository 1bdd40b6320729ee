# shellcheck shell=bash
# Adds missing names to the API server's certificate. Library of control-plane.sh.
# Values: CERTIFICATE_NAMES, addresses and names, one per line; ADDRESS of this machine; PATCHES
# (control-plane-configuration.sh).

readonly api_certificate=/etc/kubernetes/pki/apiserver

# certificate_has_name NAME: succeeds if the certificate contains the name or address.
certificate_has_name() {
  local check=-checkhost
  [[ $1 =~ ^[0-9.]+$ || $1 == *:* ]] && check=-checkip
  openssl x509 -in "$api_certificate.crt" -noout "$check" "$1" | grep -q ' does match certificate$'
}

# Restores the certificate after an interrupted run, because the API server does not start without a
# certificate.
restore_certificate() {
  [[ -d $api_certificate.old ]] || return 0
  [[ -e $api_certificate.crt && -e $api_certificate.key ]] ||
    cp -p "$api_certificate.old"/* "${api_certificate%/*}/"
  rm -rf "$api_certificate.old"
}

converge_certificate() {
  local name missing=() document=$volatile/certificate.yaml
  while read -r name; do
    [[ -z $name ]] || certificate_has_name "$name" || missing+=("$name")
  done <<<"$CERTIFICATE_NAMES"
  ((${#missing[@]} > 0)) || return 0
  say "$NODE_NAME: the API server's certificate gets ${missing[*]}"
  certificate_document >"$document" || die "kubeadm's configuration cannot be read from the cluster"
  # Deletes the old certificate first, because kubeadm keeps existing files. The API server reloads
  # the new certificate.
  mkdir -p "$api_certificate.old"
  cp -p "$api_certificate.crt" "$api_certificate.key" "$api_certificate.old/"
  rm -f "$api_certificate.crt" "$api_certificate.key"
  if ! kubeadm init phase certs apiserver --config "$document"; then
    cp -p "$api_certificate.old"/* "${api_certificate%/*}/"
    die "kubeadm did not sign a certificate for ${missing[*]}$(print_tool_error kubeadm)"
  fi
  rm -rf "$api_certificate.old"
  kubeadm init phase upload-config kubeadm --config "$document" ||
    die "kubeadm's configuration in the cluster did not get ${missing[*]}$(print_tool_error kubeadm)"
}

# Prints the cluster's ClusterConfiguration with the names in CERTIFICATE_NAMES.
certificate_document() { cluster_configuration | set_certificate_names; }

# Replaces the certificate's names in the ClusterConfiguration on standard input, and adds the
# InitConfiguration that kubeadm's phases need on this machine.
set_certificate_names() {
  local names
  names=$(sed '/^$/d; s/.*/  - "&"/' <<<"$CERTIFICATE_NAMES") || return 1
  NAMES=$names awk '
    /^apiServer:/ { print "apiServer:"; print "  certSANs:"; print ENVIRON["NAMES"]; inside = 1; next }
    inside && /^  certSANs:/ { listed = 1; next }
    listed && /^  - / { next }
    /^[^ ]/ { inside = 0 }
    { listed = 0; print }' || return 1
  printf -- '---\napiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nlocalAPIEndpoint:\n  advertiseAddress: "%s"\n' "$ADDRESS"
  # kubeadm derives the startup probes from this timeout. With the default timeout, kubelet would
  # restart a slow component repeatedly.
  printf 'timeouts:\n  controlPlaneComponentHealthCheck: %s\n' "$(kubeadm_timeout)"
  [[ -z $PATCHES ]] || printf 'patches:\n  directory: %s\n' "$own_patches"
}
