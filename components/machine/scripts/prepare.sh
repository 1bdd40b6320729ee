# shellcheck shell=bash disable=SC2154
# Makes a machine ready for kubeadm: packages, containerd, kernel settings. Result: {"kubelet": VERSION}.
# Runs again without harm; does nothing that is already done. A prebaked image skips the packages.
# Values: see prepareValues in machine/preparation.ts.

prepare() {
  require KUBERNETES_VERSION PACKAGES_URL PACKAGES_KEY_FINGERPRINT IMAGE_REPOSITORY
  require CONTAINERD_CONFIG REGISTRY_HOST ROLE
  wait_for_cloud_init
  keep_version
  settings
  packages
  runtime
  guard_metadata
  pull_images
  printf '{"kubelet": "%s"}\n' "$KUBERNETES_VERSION" >&4
}

wait_for_cloud_init() {
  local code=0
  command -v cloud-init || return 0
  timeout 300 cloud-init status --wait || code=$?
  case $code in
    0) ;;
    2) say "$(hostname): cloud-init ended with warnings: $(cloud-init status --long | tr '\n' ' ')" ;;
    124) die "cloud-init did not end within 300 s on $(hostname)" ;;
    *) die "cloud-init failed on $(hostname): $(cloud-init status --long | tr '\n' ' ')" ;;
  esac
}

# An upgrade is more than other packages: refuse it here, before anything changes.
keep_version() {
  local now
  [[ -e /etc/kubernetes/kubelet.conf ]] || return 0
  now=$(kubelet --version)
  [[ $now == "Kubernetes v$KUBERNETES_VERSION" ]] ||
    die "kubernetes.version: $(hostname) runs $now and is not upgraded to $KUBERNETES_VERSION in place; write its version again"
}

settings() {
  printf 'overlay\nbr_netfilter\n' | write /etc/modules-load.d/stackadm.conf
  # In a system container the kernel's modules are the host's affair.
  systemd-detect-virt -qc || modprobe -a overlay br_netfilter
  write /etc/sysctl.d/90-stackadm.conf <<'SETTINGS'
net.ipv4.ip_forward = 1
net.bridge.bridge-nf-call-iptables = 1
net.bridge.bridge-nf-call-ip6tables = 1
SETTINGS
  sysctl -e -p /etc/sysctl.d/90-stackadm.conf
  [[ $(sysctl -n net.ipv4.ip_forward) == 1 ]] || die "IP forwarding cannot be switched on"
  swapoff -a || say "$(hostname): swap stays on"
}

packages() {
  local name pinned=()
  if installed; then return; fi
  say "$(hostname): installing Kubernetes $KUBERNETES_VERSION"
  trusted_key
  printf 'deb [signed-by=/etc/apt/keyrings/stackadm.asc] %s /\n' "$PACKAGES_URL" |
    write /etc/apt/sources.list.d/stackadm.list
  apt_update_own
  for name in kubeadm kubelet kubectl; do pinned+=("$name=$(exact "$name")"); done
  apt_install "${pinned[@]}" cri-tools kubernetes-cni "$(runtime_package)"
  apt-mark hold kubeadm kubelet kubectl
  installed || die "the packages are installed, but kubeadm, kubelet and containerd 2 do not answer"
}

installed() {
  [[ $(kubeadm version -o short) == "v$KUBERNETES_VERSION" ]] &&
    [[ $(kubelet --version) == "Kubernetes v$KUBERNETES_VERSION" ]] &&
    containerd --version | grep -Eq ' v?2\.' && command -v crictl && [[ -x /opt/cni/bin/loopback ]]
}

trusted_key() {
  local key fingerprint
  if ! command -v curl || ! command -v gpg; then apt_install curl gnupg ca-certificates; fi
  key=$(curl -fsS --retry 5 --retry-connrefused --max-time 60 "${PACKAGES_URL}Release.key")
  fingerprint=$(gpg --homedir "$volatile" --batch --show-keys --with-colons <<<"$key" | awk -F: '$1 == "fpr" { print $10; exit }')
  [[ $fingerprint == "$PACKAGES_KEY_FINGERPRINT" ]] ||
    die "kubernetes.packages.keyFingerprint: $PACKAGES_URL is signed by $fingerprint, not by $PACKAGES_KEY_FINGERPRINT"
  write /etc/apt/keyrings/stackadm.asc <<<"$key"
}

apt_run() {
  DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

# Only our repository: the distribution's lists may be unreachable, and are not needed when its packages are there.
apt_update_own() {
  apt_run -o Dir::Etc::sourcelist=sources.list.d/stackadm.list -o Dir::Etc::sourceparts=- \
    -o APT::Get::List-Cleanup=0 update
}

apt_install() {
  apt_run -o Dpkg::Options::=--force-confold install --no-install-recommends "$@" || {
    apt_run update
    apt_run -o Dpkg::Options::=--force-confold install --no-install-recommends "$@"
  }
}

# The newest build of exactly the wanted version.
exact() {
  local version
  version=$(apt-cache madison "$1" | awk '{ print $3 }' | grep -E "^${KUBERNETES_VERSION//./\\.}(-|$)" | head -n 1) ||
    die "$PACKAGES_URL has no $1 $KUBERNETES_VERSION"
  printf '%s' "$version"
}

runtime_package() {
  if apt-cache show containerd.io >/dev/null 2>&1; then printf containerd.io; else printf containerd; fi
}

runtime() {
  local pause config restart
  pause=$(kubeadm_images | grep /pause:) || die "kubeadm names no pause image"
  config=${CONTAINERD_CONFIG//@PAUSE@/$pause}
  # Lowering the score needs a capability that a system container does not have.
  if systemd-detect-virt -qc; then config=${config/restrict_oom_score_adj = false/restrict_oom_score_adj = true}; fi
  write /etc/containerd/config.toml <<<"$config"
  restart=$changed
  if [[ -n $REGISTRY_CONFIG ]]; then
    # containerd reads this file anew for every pull.
    write "/etc/containerd/certs.d/$REGISTRY_HOST/hosts.toml" <<<"$REGISTRY_CONFIG"
  fi
  write /etc/crictl.yaml <<<'runtime-endpoint: unix:///run/containerd/containerd.sock'
  systemctl enable containerd kubelet
  if [[ $restart == yes ]]; then systemctl restart containerd; else systemctl start containerd; fi
  poll 60 crictl version || die "containerd does not answer"
}

kubeadm_images() {
  kubeadm config images list --kubernetes-version "v$KUBERNETES_VERSION" --image-repository "$IMAGE_REPOSITORY"
}

# Pods must not read the instance metadata: it holds the machine's host key. Pods on the host's network may.
guard_metadata() {
  write /usr/local/sbin/stackadm-guard-metadata 0755 <<'GUARD'
#!/bin/sh
set -e
rule="FORWARD -d 169.254.169.254/32 -j DROP"
# shellcheck disable=SC2086
iptables -w -t mangle -C $rule 2>/dev/null || iptables -w -t mangle -I $rule
GUARD
  write /etc/systemd/system/stackadm-guard-metadata.service <<'UNIT'
[Unit]
Description=Keep pods away from the instance metadata
Before=kubelet.service
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/stackadm-guard-metadata
[Install]
WantedBy=multi-user.target
UNIT
  systemctl daemon-reload
  systemctl enable --now stackadm-guard-metadata
}

# In the background: nothing waits for it, and kubelet finds what is there by then.
pull_images() {
  local images
  images=$(kubeadm_images)
  if [[ $ROLE == worker ]]; then images=$(grep -E '/(kube-proxy|pause):' <<<"$images"); fi
  if unit_running pull; then return; fi
  # kubeadm's own first: the control plane waits for them.
  printf '%s\n' "$images" "$EXTRA_IMAGES" | write "$volatile/images"
  start_unit pull 900 xargs -a "$volatile/images" -P 3 -n 1 timeout 300 crictl pull
}

run_step prepare prepare
