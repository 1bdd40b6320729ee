# shellcheck shell=bash disable=SC2154
# The proxy by which this machine reaches what is outside. Read by prepare.sh. Value: PROXY, a line "NAME BASE64" for each file, of
# which an address may have a password: only root reads them, and no command has it in its environment or arguments. kubeadm does
# not either, which would hand it on to the control plane's pods; kubelet asks nobody outside.

readonly proxy_home=$state/proxy proxy_for_apt=/etc/apt/apt.conf.d/95stackadm-proxy
readonly proxy_for_containerd=/etc/systemd/system/containerd.service.d/20-stackadm-proxy.conf

proxy_file() { awk -v name="$1" '$1 == name { print $2 }' <<<"$PROXY" | base64 -d; }

# Before anything is fetched.
fetch_by_proxy() {
  local scheme
  # An earlier release had one file for both schemes.
  rm -f "$proxy_home/curl"
  if [[ -z $PROXY ]]; then
    rm -f "$proxy_for_apt" "$proxy_home/curl-http" "$proxy_home/curl-https"
  else
    proxy_file apt | write "$proxy_for_apt" 0600
    for scheme in http https; do proxy_file "curl-$scheme" | write "$proxy_home/curl-$scheme" 0600; done
  fi
}

# time_at URL: prints the headers of what its host answers. A wrong clock would refuse any certificate, so none is checked, and nothing
# else of the URL may be sent: it can have a password or a token in it.
time_at() {
  local options=(--head --insecure --silent --max-time 10)
  if [[ -n $PROXY ]]; then options+=(--config "$proxy_home/curl-${1%%:*}"); fi
  curl "${options[@]}" "$(sed -E 's|^([A-Za-z]+://)([^/?#]*@)?([^/?#]*).*|\1\3/|' <<<"$1")"
}

# Sets `changed`. A unit's variables are everybody's to read, a file's are not.
containerd_by_proxy() {
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
