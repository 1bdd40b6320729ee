# shellcheck shell=bash disable=SC2154
# Lies on control planes as /usr/local/sbin/stackadm-serving and runs there as a unit. Approves the certificates that kubelets serve
# with, by which the API server knows them: Kubernetes itself approves none, because it cannot know whose an address is.
# A kubelet gets one for the name of its node and for addresses that its node has and no other. A worker gets none for what the API's
# own certificate says, or it could answer in the API's place. What is not approved stays, and is looked at again: a node may get
# its addresses later.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly signer=kubernetes.io/kubelet-serving

# entitled NODE REQUEST
entitled() {
  local node=$1 request subject names name nodes
  request=$(base64 -d <<<"$2") || return 1
  # Of several, another one might be signed than is looked at.
  [[ $(grep -c -e '-----BEGIN' <<<"$request") == 1 ]] || return 1
  subject=$(openssl req -noout -subject -nameopt RFC2253 <<<"$request") || return 1
  [[ $subject == "subject=CN=system:node:$node,O=system:nodes" ]] || return 1
  names=$(openssl req -noout -text -reqopt no_header,no_version,no_subject,no_pubkey,no_sigdump <<<"$request" |
    sed '0,/X509v3 Subject Alternative Name:/d') || return 1
  nodes=$(addresses) || return 1
  # Whatever comes after has to be one of these: a name may have a line's end in it.
  while read -r name; do
    case $name in
      "DNS:$node") ;;
      "IP Address:"*) owns "$node" "$(plain "${name#*:}")" || return 1 ;;
      *) return 1 ;;
    esac
  done <<<"${names//, /$'\n'}"
}

# Lines NODE ADDRESS [control-plane]. The label is none that kubelet may give its own node.
addresses() {
  # shellcheck disable=SC2016 # variables of the template
  timeout "$((20 * factor))" kubectl get nodes -o go-template='{{range $node := .items}}{{range .status.addresses}}{{$node.metadata.name}} {{.address}}{{range $key, $value := $node.metadata.labels}}{{if eq $key "node-role.kubernetes.io/control-plane"}} control-plane{{end}}{{end}}{{"\n"}}{{end}}{{end}}'
}

# owns NODE ADDRESS: whatever others say of a control plane's, which has the authority's key anyway. A worker's has to be said not to
# be the API's: its certificate is away while it is signed anew.
owns() {
  local holders said
  holders=$(awk -v address="$2" '$2 == address { print $1, $3 }' <<<"$nodes" | sort -u)
  if grep -qxF "$1 control-plane" <<<"$holders"; then return 0; fi
  said=$(openssl x509 -in /etc/kubernetes/pki/apiserver.crt -noout -checkip "$2") || :
  [[ $holders == "$1 " && $said == *' does NOT match certificate' ]]
}

# plain ADDRESS: as Kubernetes writes it.
plain() {
  if [[ $1 == *:* ]]; then getent ahosts "$1" | awk '{ print $1; exit }'; else printf '%s' "$1"; fi
}

# Which systemd starts again then.
end=$((SECONDS + 3600))
while ((SECONDS < end)); do
  while read -r name user request; do
    if [[ $user == system:node:* ]] && entitled "${user#system:node:}" "$request"; then
      timeout "$((30 * factor))" kubectl certificate approve "$name" || :
    else
      printf '%s of %s asks for what is not its own\n' "$name" "$user" >&2
    fi
  done < <(timeout "$((20 * factor))" kubectl get certificatesigningrequests --watch --field-selector "spec.signerName=$signer" \
    -o go-template='{{if not .status.conditions}}{{.metadata.name}} {{.spec.username}} {{.spec.request}}{{"\n"}}{{end}}')
  sleep 1
done
