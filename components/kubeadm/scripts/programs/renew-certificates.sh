# shellcheck shell=bash disable=SC2154
# Installed on control planes as /usr/local/sbin/stackadm-certificates, after converge.sh and
# static-pods.sh. Certificates that kubeadm signed expire, after a year by default, and otherwise
# only an upgrade renews them.
# renew: if a certificate has less than a third of its life left, renews all of them, and restarts
#   one by one the components that read them only at start. If one does not come up, restores all.
#   Records on the node which certificate expires next. stackadm-certificates.timer runs it
#   (renewal.sh).
# now: the same, whatever time is left; by hand, with `flock /run/stackadm/lock` before it.
# back: before kubelet starts, restores the former certificates if the machine stopped during a
#   renewal.
# etcd needs no restart: it reads its certificates for each connection.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly home=/etc/kubernetes former=/etc/kubernetes/stackadm-former-certificates
readonly failed=/var/lib/stackadm/certificates.failed
readonly kubeconfigs=(admin.conf super-admin.conf controller-manager.conf scheduler.conf)
readonly signed=(
  pki/{apiserver,apiserver-kubelet-client,apiserver-etcd-client,front-proxy-client}.crt
  pki/etcd/{server,peer,healthcheck-client}.crt "${kubeconfigs[@]}")
# Certificates that expire, too, but that kubeadm cannot renew.
readonly others=(pki/{ca,front-proxy-ca}.crt pki/etcd/ca.crt etcd/{ca,client}.crt)

say() { printf '%s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

poll() {
  local end=$((SECONDS + $1 * factor))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

# print_dates FILE: prints the start and the end of a certificate, or of a kubeconfig's client
# certificate.
print_dates() {
  [[ -e $home/$1 ]] || return 1
  if [[ $1 == *.conf ]]; then
    sed -n 's/^ *client-certificate-data: //p' "$home/$1" | base64 -d
  else
    cat "$home/$1"
  fi | openssl x509 -noout -startdate -enddate
}

# read_dates FILE...: sets `begins` and `ends` of the files that exist, in seconds.
read_dates() {
  local file said all='' found=() seconds=() position
  begins=() ends=()
  for file; do
    said=$(print_dates "$file") || continue
    found+=("$file") said=${said/notBefore=/}
    all+=${said/notAfter=/}$'\n'
  done
  # One process for all files: `date` reads one time per line.
  mapfile -t seconds < <(date -u -f - +%s <<<"${all%$'\n'}")
  for position in "${!found[@]}"; do
    begins[${found[position]}]=${seconds[2 * position]}
    ends[${found[position]}]=${seconds[2 * position + 1]}
  done
}

# authority_of FILE: sets `authority` to the CA that signed the file.
authority_of() {
  case $1 in
    pki/front-proxy-*) authority=pki/front-proxy-ca.crt ;;
    pki/etcd/* | pki/apiserver-etcd-client.crt) authority=pki/etcd/ca.crt ;;
    *) authority=pki/ca.crt ;;
  esac
}

# Sets `next` to "BY END FILE" of the certificate to renew first, and the flags `due` (one of
# kubeadm's needs renewal), `urgent` (it is late) and `over` (it has expired).
check_certificates() {
  local file end third all='' now by authority
  local -A begins ends
  now=$(date +%s) due=no urgent=no over=no
  read_dates "${signed[@]}" "${others[@]}"
  ((${#ends[@]} > 0)) || die "there are no certificates in $home"
  for file in "${!ends[@]}"; do
    end=${ends[$file]} third=$(((end - begins[$file]) / 3))
    by=$((end - third / 2))
    all+="$by $end $file"$'\n'
    [[ " ${signed[*]} " == *" $file "* ]] || continue
    # No certificate outlives its CA, so that one which ends with the CA cannot be renewed.
    authority_of "$file"
    ((${ends[$authority]:-0} > end)) || continue
    if ((now > end - third)); then due=yes; fi
    if ((now > by)); then urgent=yes; fi
    if ((now > end)); then over=yes; fi
  done
  read -r by end file < <(sort -n <<<"${all%$'\n'}")
  next="$(date -u -d "@$by" +%FT%TZ) $(date -u -d "@$end" +%FT%TZ) $file"
}

# Reports whether the components of all control planes, and etcd on them, are Ready.
are_components_ready() {
  local states
  states=$(timeout "$((20 * factor))" kubectl -n kube-system get pods -l tier=control-plane \
    -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}') || return 1
  [[ -n $states ]] && ! grep -qvx True <<<"$states"
}

api_answers() { [[ $(timeout "$((20 * factor))" kubectl get --raw /readyz) == ok ]]; }

renew() {
  restore_certificates
  check_certificates
  if [[ $1 == now ]] || { [[ $due == yes ]] && ! failed_recently; }; then
    # Waits until all components are well, so that only one at a time is down. If it is urgent it
    # does not wait, because expired certificates would stop the cluster.
    [[ $urgent == yes ]] || poll 60 are_components_ready ||
      die "not all of the control plane is well, so $(hostname) keeps its certificates for now"
    renew_all_certificates
    check_certificates
  fi
  poll 60 annotate_node || die "the API server of $(hostname) does not take when its certificates end"
}

# Reports a failed renewal within a day: another attempt may stop the API for minutes, so it does
# not come every hour.
failed_recently() { [[ -e $failed ]] && (($(date +%s) - $(date -r "$failed" +%s) < 86400)); }

annotate_node() { timeout "$((20 * factor))" kubectl annotate node "$(hostname)" --overwrite "stackadm.io/certificates=$next"; }

renew_all_certificates() {
  local name ended=$over
  save_certificates
  say "$(hostname): kubeadm renews the certificates"
  kubeadm certs renew all || restore_and_die "kubeadm cannot renew the certificates"
  check_certificates
  [[ $due == no ]] || restore_and_die "kubeadm signed certificates that end as soon as the former ones"
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    # Expired former certificates are no better. The component may wait for etcd on other machines,
    # where certificates may still be expired.
    restart_component "$name" || [[ $ended == yes ]] || restore_and_die "$name does not come up with its new certificates" "$name"
  done
  rm -rf "$former" "$failed"
}

# Saves the certificates. The last step renames the directory, so that the copy is complete or
# absent.
save_certificates() {
  local file
  rm -rf "$former.new"
  mkdir -m 0700 "$former.new"
  cp -a "$home/pki" "$former.new/"
  for file in "${kubeconfigs[@]}"; do
    [[ ! -e $home/$file ]] || cp -a "$home/$file" "$former.new/"
  done
  mv "$former.new" "$former"
}

restore_certificates() {
  [[ -d $former ]] || return 0
  cp -a "$former"/* "$home/"
  rm -rf "$former"
}

# restart_component NAME: stops the component's container; kubelet starts a new one in the same pod.
restart_component() {
  local before
  before=$(container_of "$1") || return 1
  [[ -z $before ]] || timeout "$((60 * factor))" crictl stop --timeout 30 "$before" >/dev/null || return 1
  wait_until_healthy is_new_container_healthy "$1" "$before"
}

# restore_and_die SENTENCE [COMPONENT]: restores the former certificates and dies. Restarts
# COMPONENT and those before it, which have started with the new ones.
restore_and_die() {
  local name
  touch "$failed"
  restore_certificates
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    [[ -n ${2:-} ]] || break
    restart_component "$name" || say "$name on $(hostname) does not come up with its former certificates either; crictl logs there says why"
    [[ $name != "$2" ]] || break
  done
  die "$1; $(hostname) has its former ones again"
}

case $1 in
  renew | now) renew "$1" ;;
  back) restore_certificates ;;
  *) exit 64 ;;
esac
