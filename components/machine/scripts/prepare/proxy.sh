# shellcheck shell=bash
# Sets the proxy through which this machine reaches outside addresses. Library of prepare.sh. Only
# root can read the files, because a URL may contain a password. No command gets such a URL in its
# environment or arguments.
# kubeadm gets no proxy, because kubeadm would pass the proxy to the pods of the control plane.
# kubelet contacts no outside address.
# Value: PROXY, a line "NAME BASE64" for each file.

readonly proxy_home=$state/proxy proxy_for_apt=/etc/apt/apt.conf.d/95stackadm-proxy
readonly proxy_for_containerd=/etc/systemd/system/containerd.service.d/20-stackadm-proxy.conf

proxy_file() { awk -v name="$1" '$1 == name { print $2 }' <<<"$PROXY" | base64 -d; }

# Writes the files for apt and curl. Runs before any download.
write_proxy_files() {
  local scheme
  if [[ -z $PROXY ]]; then
    rm -f "$proxy_for_apt" "$proxy_home/curl-http" "$proxy_home/curl-https"
  else
    proxy_file apt | write "$proxy_for_apt" 0600
    for scheme in http https; do proxy_file "curl-$scheme" | write "$proxy_home/curl-$scheme" 0600; done
  fi
}

# fetch_headers URL: prints the headers that the host of the URL sends. Does not check the
# certificate, because a machine with a wrong clock refuses every certificate. Requests only the
# root of the host, because the rest of the URL may contain a password or a token.
fetch_headers() {
  local options=(--head --insecure --silent --max-time 10)
  if [[ -n $PROXY ]]; then options+=(--config "$proxy_home/curl-${1%%:*}"); fi
  curl "${options[@]}" "$(sed -E 's|^([A-Za-z]+://)([^/?#]*@)?([^/?#]*).*|\1\3/|' <<<"$1")"
}

# Writes containerd's proxy variables to a file, because all users can read the variables in a unit.
# Sets `changed`.
write_containerd_proxy() {
  local text first
  changed=no
  if [[ -n $PROXY ]]; then
    text=$(proxy_file environment)
    write "$proxy_home/environment" 0600 "$text"$'\n'
    first=$changed
    write "$proxy_for_containerd" <<UNIT
[Service]
EnvironmentFile=$proxy_home/environment
UNIT
    if [[ $first == yes ]]; then changed=yes; fi
  elif [[ -e $proxy_for_containerd ]]; then
    rm -f "$proxy_for_containerd" "$proxy_home/environment"
    changed=yes
  fi
  if [[ $changed == yes ]]; then systemctl daemon-reload; fi
}
