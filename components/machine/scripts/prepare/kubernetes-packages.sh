# shellcheck shell=bash disable=SC2034
# Installs Kubernetes' packages and prints the versions that a machine has. Library of prepare.sh
# and of the scripts that upgrade Kubernetes, after apt-get.sh.
# Values: KUBERNETES_VERSION, CRI_TOOLS_SERIES, KUBERNETES_CNI_SERIES; PACKAGES_URL, the repository
# of the packages; IMAGE_REPOSITORY.

readonly kubernetes_packages=(kubeadm kubelet kubectl cri-tools kubernetes-cni)
# Directory with builds of containerd that wait for the machine's turn, as files of packages: `next`
# contains the new builds, `former` contains the builds that they replace.
readonly containerd_builds=/var/cache/stackadm/containerd-builds

# pin_kubernetes NAME...: adds these packages, in the wanted versions, to `pinned`.
pin_kubernetes() {
  local name
  for name in "$@"; do
    case $name in
      cri-tools) pin "$CRI_TOOLS_SERIES" "$name" ;;
      kubernetes-cni) pin "$KUBERNETES_CNI_SERIES" "$name" ;;
      *) pin "$KUBERNETES_VERSION" "$name" ;;
    esac
  done
}

# pin SERIES NAME...: adds the newest version in the series to `pinned`, from the first package that
# has such a version. SERIES is a version, like 1.36.3, or bounds, like 2.2..2.4: the oldest and the
# newest minor version, with the same major version.
pin() {
  find_version "$@" || { apt_update && find_version "$@"; } ||
    die "neither $(redact_url "$PACKAGES_URL") nor another repository of $(hostname) has ${*:2} of series $(series_text "$1")"
}

find_version() {
  local series=$1 name version
  shift
  for name in "$@"; do
    version=$(print_newest "$series" "$name")
    if [[ -n $version ]]; then
      pinned+=("$name=$version")
      return 0
    fi
  done
  return 1
}

series_text() { case $1 in *..*) printf '%s to %s' "${1%%..*}" "${1##*..}" ;; *) printf '%s' "$1" ;; esac }

# print_newest SERIES NAME [OPTION...]: prints the newest version in the series. apt-cache lists the
# newest version first.
print_newest() { apt-cache madison "$2" "${@:3}" | awk '{ print $3 }' | print_first_in_series "$1"; }

# print_first_in_series SERIES: prints the first version on standard input that is in the series.
# Ignores the epoch and the build of the package. Reads all of the input, because a program that
# writes to a closed pipe fails.
print_first_in_series() {
  awk -v series="$1" '
    BEGIN { if (split(series, bound, /\.\./) == 2) { split(bound[1], least, "."); split(bound[2], most, ".") } }
    {
      version = $1
      sub(/^[0-9]+:/, "", version)
      rest = substr(version, length(series) + 1)
      split(version, part, /[^0-9]/)
      exact = index(version, series) == 1 && (rest == "" || rest ~ /^[-.]/)
      between = most[1] != "" && part[1] == most[1] && part[2] + 0 >= least[2] + 0 && part[2] + 0 <= most[2] + 0
    }
    !found && (exact || between) { found = $1 }
    END { print found }'
}

# has_wanted_version PROGRAM: succeeds if the program, kubeadm or kubelet, has the wanted version.
has_wanted_version() { [[ $(version_of "$1") == "v$KUBERNETES_VERSION" ]]; }

# version_of PROGRAM: prints "v1.36.3"; prints nothing if the program does not exist.
version_of() {
  case $1 in
    kubeadm) kubeadm version -o short ;;
    kubelet) kubelet --version | sed -n 's/^Kubernetes //p' ;;
  esac || :
}

# Succeeds if this machine is part of a cluster or of its etcd. Such a machine changes the version
# of Kubernetes only at its turn in a rolling upgrade (upgrade-node.sh, upgrade-etcd.sh).
is_cluster_machine() { [[ -e $state/init.done || -e $state/join.done || -e $state/etcd.done ]]; }

# Dies if the wanted version is earlier than the present version, because etcd's data and the
# cluster's objects may need the present version. On a control plane, the API server may already
# have a later version than kubelet.
refuse_downgrade() {
  local api=/etc/kubernetes/manifests/kube-apiserver.yaml newest
  newest=$({
    version_of kubelet
    if [[ -e $api ]]; then sed -n 's|^ *image: .*/kube-apiserver:\(v[0-9.]*\)$|\1|p' "$api"; fi
    printf 'v%s\n' "$KUBERNETES_VERSION"
  } | sort -V | tail -n 1)
  [[ $newest == "v$KUBERNETES_VERSION" ]] ||
    die_as INVALID_CONFIG "kubernetes.version: $(hostname) has Kubernetes ${newest#v} and cannot go back to $KUBERNETES_VERSION; write ${newest#v}"
}

kubeadm_images() {
  kubeadm config images list --kubernetes-version "v$KUBERNETES_VERSION" --image-repository "$IMAGE_REPOSITORY"
}

readonly containerd_file=/etc/containerd/config.toml

# Prints the pause image in containerd's configuration.
print_current_pause() { sed -n 's/^  sandbox = "\(.*\)"$/\1/p' "$containerd_file" | grep .; }
