# shellcheck shell=bash
# Makes files that only root needs unreadable for other users (CIS Kubernetes 1.12, rules 1.1.11,
# 1.1.12, 4.1.1, 4.1.9). Library of join-node.sh, control-plane.sh and etcd-member.sh.

# Makes the files of kubelet readable only for root. Every upgrade of kubeadm and the packages makes
# these files readable for all users again.
close_kubelet_files() {
  local file units=/usr/lib/systemd/system
  for file in /var/lib/kubelet/config.yaml "$units/kubelet.service" "$units"/kubelet.service.d/*.conf \
    /etc/systemd/system/kubelet.service.d/*.conf; do
    [[ ! -e $file ]] || chmod 0600 "$file" || die "cannot change the mode of $file"
  done
}

# Makes the user etcd the owner of the data of etcd. etcd runs as root, which needs no permission.
# The user etcd cannot log in, so no other user can read the data.
close_etcd_data() {
  local directory=/var/lib/etcd
  [[ -d $directory ]] || return 0
  id etcd || useradd --system --user-group --no-create-home --home-dir "$directory" --shell /usr/sbin/nologin etcd ||
    die "the user etcd cannot be created"
  { chmod 0700 "$directory" && chown etcd:etcd "$directory"; } || die "cannot change the owner of $directory"
}
