# shellcheck shell=bash disable=SC2154
# Installed on control planes as /usr/local/sbin/stackadm-serving, and runs as a unit. Approves
# kubelets' serving certificates, by which the API server verifies kubelets. Kubernetes approves
# none itself, because it cannot know which machine has an address.
# A kubelet gets a certificate for its node's name, and for addresses that only its node has. A
# worker gets none for an address in the API server's certificate, or it could impersonate the API.
# Other requests remain pending and are checked again: a node may get its addresses later.
set -euo pipefail
export KUBECONFIG=/etc/kubernetes/admin.conf
readonly signer=kubernetes.io/kubelet-serving

# may_have_certificate NODE REQUEST: reports whether the node may have the certificate that it
# requests.
may_have_certificate() {
  local node=$1 request subject names name nodes
  request=$(base64 -d <<<"$2") || return 1
  # Only one PEM block: of several, the signer might take another than is checked here.
  [[ $(grep -c -e '-----BEGIN' <<<"$request") == 1 ]] || return 1
  subject=$(openssl req -noout -subject -nameopt RFC2253 <<<"$request") || return 1
  [[ $subject == "subject=CN=system:node:$node,O=system:nodes" ]] || return 1
  names=$(openssl req -noout -text -reqopt no_header,no_version,no_subject,no_pubkey,no_sigdump <<<"$request" |
    sed '0,/X509v3 Subject Alternative Name:/d') || return 1
  nodes=$(list_node_addresses) || return 1
  # All lines after the heading must be such names: a name could contain a line break.
  while read -r name; do
    case $name in
      "DNS:$node") ;;
      "IP Address:"*) owns_address "$node" "$(normalize_address "${name#*:}")" || return 1 ;;
      *) return 1 ;;
    esac
  done <<<"${names//, /$'\n'}"
}

# Prints lines NODE ADDRESS [control-plane]. kubelet cannot set the label of control planes on its
# node.
list_node_addresses() {
  # shellcheck disable=SC2016 # variables of the template
  timeout "$((20 * factor))" kubectl get nodes -o go-template='{{range $node := .items}}{{range .status.addresses}}{{$node.metadata.name}} {{.address}}{{range $key, $value := $node.metadata.labels}}{{if eq $key "node-role.kubernetes.io/control-plane"}} control-plane{{end}}{{end}}{{"\n"}}{{end}}{{end}}'
}

# owns_address NODE ADDRESS: reports whether the address is the node's. A control plane may share it
# with others, because it has the CA's key anyway. For a worker, openssl must state that the API
# server's certificate does not have the address; without the file, which is missing during its
# renewal, that is unknown.
owns_address() {
  local holders said
  holders=$(awk -v address="$2" '$2 == address { print $1, $3 }' <<<"$nodes" | sort -u)
  if grep -qxF "$1 control-plane" <<<"$holders"; then return 0; fi
  said=$(openssl x509 -in /etc/kubernetes/pki/apiserver.crt -noout -checkip "$2") || :
  [[ $holders == "$1 " && $said == *' does NOT match certificate' ]]
}

# normalize_address ADDRESS: prints the address in Kubernetes' notation.
normalize_address() {
  if [[ $1 == *:* ]]; then getent ahosts "$1" | awk '{ print $1; exit }'; else printf '%s' "$1"; fi
}

# Exits after an hour; systemd starts the program again.
end=$((SECONDS + 3600))
while ((SECONDS < end)); do
  while read -r name user request; do
    if [[ $user == system:node:* ]] && may_have_certificate "${user#system:node:}" "$request"; then
      timeout "$((30 * factor))" kubectl certificate approve "$name" || :
    else
      printf '%s of %s asks for what is not its own\n' "$name" "$user" >&2
    fi
  done < <(timeout "$((20 * factor))" kubectl get certificatesigningrequests --watch --field-selector "spec.signerName=$signer" \
    -o go-template='{{if not .status.conditions}}{{.metadata.name}} {{.spec.username}} {{.spec.request}}{{"\n"}}{{end}}')
  sleep 1
done
