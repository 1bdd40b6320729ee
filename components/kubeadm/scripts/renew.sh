# shellcheck shell=bash disable=SC2154
# Lies on control planes as /usr/local/sbin/stackadm-certificates, behind converge.sh and static-pods.sh. What kubeadm signed ends,
# after a year unless it was told otherwise, and nothing but an upgrade signs it anew.
# renew: where a certificate has less than a third of its life left, signs all of them anew, and restarts what reads them only when
#   it starts, one component after another. Where one does not come up, all are what they were. Says on the node which
#   certificate is next. stackadm-certificates.timer runs it (renewal.sh).
# now: the same, however long they are good; by hand with `flock /run/stackadm/lock` before it.
# back: before kubelet starts anything: a machine that stopped in between has what it had before.
# No certificate of etcd's has to be read again by a restart: etcd reads them for each connection.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly home=/etc/kubernetes former=/etc/kubernetes/stackadm-former-certificates
readonly failed=/var/lib/stackadm/certificates.failed
readonly kubeconfigs=(admin.conf super-admin.conf controller-manager.conf scheduler.conf)
readonly signed=(
  pki/{apiserver,apiserver-kubelet-client,apiserver-etcd-client,front-proxy-client}.crt
  pki/etcd/{server,peer,healthcheck-client}.crt "${kubeconfigs[@]}")
# They end, too, and nothing here can help it.
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

# dates FILE: prints when its certificate began and when it ends; a kubeconfig's is that of its user.
dates() {
  [[ -e $home/$1 ]] || return 1
  if [[ $1 == *.conf ]]; then
    sed -n 's/^ *client-certificate-data: //p' "$home/$1" | base64 -d
  else
    cat "$home/$1"
  fi | openssl x509 -noout -startdate -enddate
}

# read_dates FILE...: sets `begins` and `ends` of those that are there, in seconds.
read_dates() {
  local file said all='' found=() seconds=() position
  begins=() ends=()
  for file; do
    said=$(dates "$file") || continue
    found+=("$file") said=${said/notBefore=/}
    all+=${said/notAfter=/}$'\n'
  done
  # One process for all of them: `date` reads a moment a line.
  mapfile -t seconds < <(date -u -f - +%s <<<"${all%$'\n'}")
  for position in "${!found[@]}"; do
    begins[${found[position]}]=${seconds[2 * position]}
    ends[${found[position]}]=${seconds[2 * position + 1]}
  done
}

# authority_of FILE: sets `authority`.
authority_of() {
  case $1 in
    pki/front-proxy-*) authority=pki/front-proxy-ca.crt ;;
    pki/etcd/* | pki/apiserver-etcd-client.crt) authority=pki/etcd/ca.crt ;;
    *) authority=pki/ca.crt ;;
  esac
}

# Sets `next`, "BY END FILE" of the certificate that is next; `due`, that one of kubeadm's is to be signed anew; `urgent`, that it is
# late for that; `over`, that one has ended.
look() {
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
    # Nothing is good for longer than who signed it.
    authority_of "$file"
    ((${ends[$authority]:-0} > end)) || continue
    if ((now > end - third)); then due=yes; fi
    if ((now > by)); then urgent=yes; fi
    if ((now > end)); then over=yes; fi
  done
  read -r by end file < <(sort -n <<<"${all%$'\n'}")
  next="$(date -u -d "@$by" +%FT%TZ) $(date -u -d "@$end" +%FT%TZ) $file"
}

# The components of all control planes, and their etcd.
all_well() {
  local states
  states=$(timeout "$((20 * factor))" kubectl -n kube-system get pods -l tier=control-plane \
    -o 'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}') || return 1
  [[ -n $states ]] && ! grep -qvx True <<<"$states"
}

answers() { [[ $(timeout "$((20 * factor))" kubectl get --raw /readyz) == ok ]]; }

renew() {
  back
  look
  if [[ $1 == now ]] || { [[ $due == yes ]] && ! lately; }; then
    # Never two at once, and never beside one that is away: there is time. When there is not, waiting ends the cluster.
    [[ $urgent == yes ]] || poll 60 all_well ||
      die "not all of the control plane is well, so $(hostname) keeps its certificates for now"
    sign
    look
  fi
  poll 60 tell || die "the API server of $(hostname) does not take when its certificates end"
}

# What does not come up keeps the API away for minutes: not every hour.
lately() { [[ -e $failed ]] && (($(date +%s) - $(date -r "$failed" +%s) < 86400)); }

tell() { timeout "$((20 * factor))" kubectl annotate node "$(hostname)" --overwrite "stackadm.io/certificates=$next"; }

sign() {
  local name ended=$over
  set_aside
  say "$(hostname): certificates are signed anew"
  kubeadm certs renew all || undo "kubeadm does not sign certificates anew"
  look
  [[ $due == no ]] || undo "kubeadm signed certificates that end as soon as the former ones"
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    # Former ones that have ended are no better, and etcd on other machines may still have such.
    restart "$name" || [[ $ended == yes ]] || undo "$name does not come up with its new certificates" "$name"
  done
  rm -rf "$former" "$failed"
}

# Whole, or not there.
set_aside() {
  local file
  rm -rf "$former.new"
  mkdir -m 0700 "$former.new"
  cp -a "$home/pki" "$former.new/"
  for file in "${kubeconfigs[@]}"; do
    [[ ! -e $home/$file ]] || cp -a "$home/$file" "$former.new/"
  done
  mv "$former.new" "$former"
}

back() {
  [[ -d $former ]] || return 0
  cp -a "$former"/* "$home/"
  rm -rf "$former"
}

# kubelet starts a container that was stopped again, in the same pod.
restart() {
  local before
  before=$(container_of "$1") || return 1
  [[ -z $before ]] || timeout "$((60 * factor))" crictl stop --timeout 30 "$before" >/dev/null || return 1
  comes_up serves "$1" "$before"
}

# undo SENTENCE [COMPONENT]: that one and those before it have started with the new ones.
undo() {
  local name
  touch "$failed"
  back
  for name in kube-apiserver kube-controller-manager kube-scheduler; do
    [[ -n ${2:-} ]] || break
    restart "$name" || say "$name on $(hostname) does not come up with its former certificates either; crictl logs there says why"
    [[ $name != "$2" ]] || break
  done
  die "$1; $(hostname) has its former ones again"
}

case $1 in
  renew | now) renew "$1" ;;
  back) back ;;
  *) exit 64 ;;
esac
