# shellcheck shell=bash disable=SC2154
# Installed on control planes as /usr/local/sbin/stackadm-encrypt.
# readable DIGEST: succeeds if every control plane declares that it can decrypt with that key.
# settle DIGEST: if so, makes this control plane encrypt with it, and stops the timer. The API
# server reloads its file within a minute, without a restart.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly verb=$1 digest=$2
readonly file=/etc/kubernetes/stackadm-encryption/$digest.yaml wanted=/etc/kubernetes/stackadm-encryption/$digest.encrypts

all_can_decrypt() {
  local digests
  digests=$(timeout "$((20 * factor))" kubectl get nodes -l node-role.kubernetes.io/control-plane \
    -o 'go-template={{range .items}}{{if .metadata.annotations}}{{with index .metadata.annotations "stackadm.io/encryption"}}{{printf "%q" .}}{{else}}none{{end}}{{else}}none{{end}}{{"\n"}}{{end}}') || return 1
  [[ -n $digests ]] && ! grep -qvxF "\"$digest\"" <<<"$digests"
}

case $verb in
  readable) all_can_decrypt ;;
  settle)
    all_can_decrypt
    if ! cmp -s "$wanted" "$file"; then
      new=$(mktemp "$file.XXXXXX")
      cat "$wanted" >"$new"
      mv -f "$new" "$file"
    fi
    systemctl disable --now stackadm-encrypt.timer 2>/dev/null || :
    ;;
  *) exit 64 ;;
esac
