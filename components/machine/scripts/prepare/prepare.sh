# shellcheck shell=bash
# Prepares a machine for kubeadm: packages, containerd, kernel settings. Can run repeatedly, and
# skips steps that are already done. If the image already contains the packages (a prebaked image),
# installs no packages.
# Result: {"kubelet": VERSION}.
# Values: see preparationVariables in machine/preparation.ts.

prepare() {
  require KUBERNETES_VERSION PACKAGES_URL PACKAGES_KEY_FINGERPRINT IMAGE_REPOSITORY
  require CONTAINERD_SOURCE CONTAINERD_KEY CONTAINERD_KEY_FINGERPRINT
  require CONTAINERD_CONFIG KUBEADM_IMAGES CRI_TOOLS_SERIES KUBERNETES_CNI_SERIES CONTAINERD_SERIES
  require POD_RANGE NODE_RANGE LOGIN_USER SECURITY_UPDATES TIMEOUT_FACTOR
  factor=$TIMEOUT_FACTOR
  wait_for_cloud_init
  write_timeout_factor
  require_apt
  install_login_keys
  limit_silent_channels
  if is_cluster_machine; then refuse_downgrade; fi
  check_second_interface
  keep_network
  if [[ $changed == yes ]] && ! is_cluster_machine; then restart_network; fi
  keep_services
  write_kernel_settings
  write_proxy_files
  check_clock
  trust_cloud
  mount_all_volumes
  check_disk_space
  prepare_packages
  configure_containerd
  write_registration_taints
  install_pod_guard
  measure_disk
  run_user_script beforeKubeadm "$BEFORE_KUBEADM"
  pull_images
  security_updates
  print_result kubelet "$KUBERNETES_VERSION"
}

wait_for_cloud_init() {
  local code=0
  command -v cloud-init || return 0
  # The time limit is 20 minutes, because the user's parts of cloud-init may upgrade all packages.
  timeout "$((1200 * factor))" cloud-init status --wait || code=$?
  case $code in
    0) ;;
    2) say "$(hostname): cloud-init ended with warnings: $(cloud-init status --long | tr '\n' ' ')" ;;
    124) die "cloud-init did not end within $((20 * factor)) minutes on $(hostname); where it is slow, write a larger timeoutFactor" ;;
    # Dies only at the first boot, when cloud-init sets up the machine. At a later boot, the cause
    # may only be a metadata service that did not answer, so the script continues.
    *)
      is_cluster_machine || die "cloud-init failed on $(hostname): $(cloud-init status --long | tr '\n' ' ')"
      say "$(hostname): cloud-init failed at the last boot: $(cloud-init status --long | tr '\n' ' ')"
      ;;
  esac
}

# Dies if the system has no apt and the packages are not installed yet.
require_apt() {
  local system
  if command -v apt-get || is_installed || is_cluster_machine; then return; fi
  system=$(print_os_field PRETTY_NAME)
  die "$(hostname) runs ${system:-a system without a name}, which is not supported: it has no apt; choose an image of Debian 12 or 13, or of Ubuntu 22.04, 24.04 or later"
}

# Checks the interface that second-interface.sh has configured at boot.
check_second_interface() {
  local device
  [[ -n $ADMIN_ADDRESS ]] || return 0
  device=$(ip -o -4 address show to "$ADMIN_ADDRESS" | awk '{ print $2; exit }')
  [[ -n $device ]] ||
    die "$(hostname) does not have its address $ADMIN_ADDRESS in network.admin; choose an image whose interfaces systemd-networkd or ifupdown configures, or look into /var/log/cloud-init.log there"
  ! ip -4 route show default dev "$device" | grep -q . ||
    die "$(hostname) has a default route through its interface in network.admin, $device; choose an image in which nothing else configures it"
}

# Restarts systemd-networkd with its new files. This must happen before the pod network sets routes.
restart_network() {
  systemctl restart systemd-networkd ||
    die "systemd-networkd does not start again on $(hostname); journalctl -u systemd-networkd there says why"
}

# Succeeds if the machine waits for its turn in a rolling upgrade, and still has the old version.
is_waiting_for_upgrade() { is_cluster_machine && ! has_wanted_version kubelet; }

write_kernel_settings() {
  local modules
  read -ra modules <<<"overlay br_netfilter $KERNEL_MODULES"
  printf '%s\n' "${modules[@]}" | write /etc/modules-load.d/stackadm.conf
  # A system container cannot load kernel modules. Its host must have loaded them.
  systemd-detect-virt -qc || modprobe -a "${modules[@]}" ||
    die "the kernel of $(hostname) lacks one of the modules ${modules[*]}; choose an image whose kernel has them"
  # Each container of a pod uses an inotify instance. About 55 pods use up the kernel's default of
  # 128.
  write /etc/sysctl.d/90-stackadm.conf <<SETTINGS
net.ipv4.ip_forward = 1
net.bridge.bridge-nf-call-iptables = 1
net.bridge.bridge-nf-call-ip6tables = 1
$(print_sysctl_minimum fs.inotify.max_user_instances 8192)
$(print_sysctl_minimum fs.inotify.max_user_watches 524288)
SETTINGS
  sysctl -e -p /etc/sysctl.d/90-stackadm.conf
  [[ $(sysctl -n net.ipv4.ip_forward) == 1 ]] || die "$(hostname) cannot enable IP forwarding"
  disable_swap
}

# print_sysctl_minimum NAME VALUE: prints a line for sysctl, with the machine's present value if it
# is larger than VALUE.
print_sysctl_minimum() {
  local now
  now=$(sysctl -n "$1")
  printf '%s = %s' "$1" "$((now > $2 ? now : $2))"
}

# Turns off swap, now and at the next boot, because kubelet does not start with swap.
disable_swap() {
  local unit entry='^[[:space:]]*[^#[:space:]][^[:space:]]*[[:space:]]+[^[:space:]]+[[:space:]]+swap([[:space:]]|$)'
  while read -r unit _; do
    systemctl mask "$unit" || say "$(hostname): $unit cannot be masked and may come back at the next boot"
  done < <(systemctl list-units --type=swap --state=active --plain --no-legend)
  swapoff -a || say "$(hostname): swap stays on"
  if grep -Esq "$entry" /etc/fstab; then sed -E "s/$entry/# &/" /etc/fstab | write /etc/fstab; fi
}

prepare_packages() {
  local extra
  read -ra extra <<<"$EXTRA_PACKAGES"
  if is_waiting_for_upgrade; then
    fetch_packages
  elif ! is_installed; then
    install_packages
  elif ! only_pinned_trusted; then
    install_kubernetes_key
  fi
  prepare_containerd_change
  extra_packages "${extra[@]}"
  # Holds the packages on every machine, because a prebaked image may contain packages without hold.
  apt_hold "${kubernetes_packages[@]}" containerd.io containerd "${extra[@]}"
}

install_packages() {
  local pinned=()
  say "$(hostname): installing Kubernetes $KUBERNETES_VERSION"
  list_packages
  pin_kubernetes "${kubernetes_packages[@]}"
  if ! is_containerd_usable; then pin_containerd; fi
  # stackadm-guard needs iptables, and some packages of kubelet do not depend on iptables.
  apt_install iptables "${pinned[@]}" || die "the packages cannot be installed on $(hostname)$(print_apt_error kubernetes.packages.url)"
  forget_containerd_source
  is_installed || die "the packages are installed, but kubeadm, kubelet and containerd $(series_text "$CONTAINERD_SERIES") do not answer"
}

list_packages() {
  install_kubernetes_key
  write_source_list
  apt_update_kubernetes || die "kubernetes.packages.url: $(hostname) cannot list the packages of $(redact_url "$PACKAGES_URL")$(print_apt_error kubernetes.packages.url)"
}

# Downloads all packages before the machine's turn in a rolling upgrade. If a download fails on one
# machine, the run fails before any machine is upgraded. On a system without apt, the user installs
# the packages.
fetch_packages() {
  local pinned=()
  command -v apt-get || return 0
  say "$(hostname): fetching Kubernetes $KUBERNETES_VERSION for its turn"
  list_packages
  pin_kubernetes "${kubernetes_packages[@]}"
  apt_download "${pinned[@]}" || die "the packages cannot be fetched on $(hostname)$(print_apt_error kubernetes.packages.url)"
}

# extra_packages NAME...: installs packages of the distribution, for example keepalived.
extra_packages() {
  local name missing=()
  for name in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$name" | grep -qx installed || missing+=("$name")
  done
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}" ||
    die "${missing[*]} cannot be installed on $(hostname)$(print_apt_error)"
}

is_installed() {
  has_wanted_version kubeadm && has_wanted_version kubelet &&
    is_containerd_usable && command -v crictl && [[ -x /opt/cni/bin/loopback ]]
}

configure_containerd() {
  local pause config restart
  pause=$(pause_image) || die "kubeadm names no pause image$(print_tool_error kubeadm)"
  config=${CONTAINERD_CONFIG//@PAUSE@/$pause}
  # In a system container, containerd cannot lower the OOM score of its containers, because the
  # system container lacks the capability for it.
  if systemd-detect-virt -qc; then config=${config/restrict_oom_score_adj = false/restrict_oom_score_adj = true}; fi
  containerd_config "$config"
  restart=$changed
  write_containerd_proxy
  if [[ $changed == yes ]]; then restart=yes; fi
  write_registries
  write /etc/crictl.yaml 0644 'runtime-endpoint: unix:///run/containerd/containerd.sock'$'\n'
  systemctl enable containerd kubelet
  if [[ $restart == yes ]]; then systemctl restart containerd; else systemctl start containerd; fi
  poll 60 crictl version || die "containerd on $(hostname) does not answer within $((60 * factor)) s; journalctl -u containerd there says why"
}

# Prints the pause image for containerd's configuration. Before the machine's turn in a rolling
# upgrade, prints the image that containerd uses now.
pause_image() {
  if is_waiting_for_upgrade; then print_current_pause; else kubeadm_images | grep /pause:; fi
}

# Writes the taints with which kubelet registers the node, so that no pod starts on the node too
# early. kubelet uses these taints only at the registration, so a running kubelet is not restarted.
write_registration_taints() {
  local file=/etc/default/kubelet
  if [[ -n $REGISTER_TAINTS ]]; then
    write "$file" 0644 "KUBELET_EXTRA_ARGS=--register-with-taints=$REGISTER_TAINTS"$'\n'
  elif [[ -e $file ]]; then
    sed '/^KUBELET_EXTRA_ARGS=--register-with-taints=/d' "$file" | write "$file"
  fi
}

# Blocks traffic from pods to the instance metadata, which contain the host key of the machine. Also
# blocks traffic from pods to SSH, etcd, kubelets and internal ports of the control plane. Security
# groups cannot distinguish a pod from its node, so each machine filters the traffic of its pods.
# Does not filter pods on the host network. Keeps packets to pods away from the default route.
install_pod_guard() {
  write /usr/local/sbin/stackadm-guard 0755 <<'GUARD'
#!/bin/sh
# stackadm-guard POD-RANGE NODE-RANGE [ROUTED]. Filters in the mangle table: Services are resolved
# there already, and pods still have their own addresses. With ROUTED, the pod network sets routes to
# the pods of each node.
set -e
drop() {
  tables=$1
  shift
  "$tables" -w 60 -t mangle -C "$@" -j DROP 2>/dev/null || "$tables" -w 60 -t mangle -I "$@" -j DROP
}
drop iptables FORWARD -d 169.254.169.254/32
# SSH, etcd, kubelet, controller managers and scheduler. Drops only connections that pods open: a
# reply to a masqueraded client may go to any port.
for ports in 22 2379:2381 10250 10257:10259; do
  drop iptables INPUT -s "$1" -p tcp --dport "$ports" -m conntrack --ctdir ORIGINAL
  drop iptables FORWARD -s "$1" -d "$2" -p tcp --dport "$ports" -m conntrack --ctdir ORIGINAL
  # A pod has a link-local address on the link to its machine, whatever families the cluster has. No
  # machine connects to another one by such an address.
  [ ! -e /proc/net/if_inet6 ] ||
    drop ip6tables INPUT -s fe80::/10 -p tcp --dport "$ports" -m conntrack --ctdir ORIGINAL
done
# Without the route of the pod network, a packet to a pod would leave by the default route. All other
# routes are preferred to this one, because their ranges are smaller or their metrics are. BIRD, which
# Calico uses without VXLAN, tells other nodes and routers about each route except those of the
# kernel. Packets to missing pods would then go round between the nodes.
if [ -n "$3" ]; then
  ip route replace unreachable "$1" proto kernel metric 4278198272
else
  ip route del unreachable "$1" metric 4278198272 2>/dev/null || :
fi
GUARD
  # Runs the guard as ExecStartPre of kubelet. kubelet starts all pods, so kubelet must not start if
  # the guard fails. systemd then tries to start kubelet again, together with the guard. A separate
  # unit that kubelet requires has two disadvantages: after one failure of this unit, systemd does
  # not start kubelet again, and a restart of this unit also restarts kubelet.
  write /etc/systemd/system/kubelet.service.d/20-stackadm-guard.conf 0600 <<GUARD
[Service]
ExecStartPre=/usr/local/sbin/stackadm-guard $POD_RANGE $NODE_RANGE $POD_ROUTES
GUARD
  systemctl daemon-reload
  /usr/local/sbin/stackadm-guard "$POD_RANGE" "$NODE_RANGE" "$POD_ROUTES" ||
    die "iptables on $(hostname) cannot keep pods away from the machines' own ports"
}

# Pulls images in the background. No step waits for the end, and kubelet uses the images that are
# present.
pull_images() {
  local images
  # Empty if the user has replaced each image.
  images=$(print_early_images)
  if unit_running pull; then return; fi
  # kubeadm's images come first, because the start of the control plane needs them.
  printf '%s\n' "$images" "$EXTRA_IMAGES" | write "$volatile/images"
  start_unit pull 900 xargs -a "$volatile/images" -P 3 -n 1 timeout "$((300 * factor))" crictl pull
}

# Prints the images in kubeadm's list that match KUBEADM_IMAGES. Before the machine's turn in a
# rolling upgrade, the installed kubeadm has the old version, so it does not know the new tags of
# other images than kube-*. Then prints only the images kube-*.
print_early_images() {
  local wanted=.
  if is_waiting_for_upgrade; then wanted=/kube-; fi
  { kubeadm_images || is_waiting_for_upgrade; } | { grep -E "$KUBEADM_IMAGES" | grep -e "$wanted" || :; }
}

run_step prepare prepare
