# shellcheck shell=bash
# Creates the client certificate with which the API server connects to etcd, before kubeadm init on
# the first control plane. Later, kubeadm copies the certificate and the private key to joining
# control planes. Until then, the private key does not leave this machine.
# Result: {"endings": DATE}.
# States: certificate valid for another month -> keep the certificate; otherwise -> create a new
# certificate, signed by an etcd member.
# Values: see etcdClientCertificateVariables in etcd/member-scripts.ts.

# The directory is not in /etc/kubernetes/pki, which reset_machine_after deletes after an
# interrupted kubeadm.
readonly home=/etc/kubernetes/etcd month=2592000

client() {
  require NODE_NAME PEERS ETCD
  write_ssh_files
  if ! is_certificate_valid; then renew_client_certificate; fi
  print_result endings "$(openssl x509 -in "$home/client.crt" -noout -enddate)"
}

is_certificate_valid() {
  [[ -s $home/client.key && -s $home/ca.crt ]] && openssl x509 -in "$home/client.crt" -noout -checkend "$month"
}

renew_client_certificate() {
  local certificate='' authority='' request
  mkdir -p "$home"
  chmod 0700 "$home"
  request=$(openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=kube-apiserver-etcd-client \
    -keyout "$home/client.key.new" | base64 -w0)
  poll 120 ask_for_certificate || die "no member of etcd issues a certificate for $NODE_NAME; start a majority of the members and run up again"
  mv -f "$home/client.key.new" "$home/client.key"
  base64 -d <<<"$authority" | write "$home/ca.crt"
  base64 -d <<<"$certificate" | write "$home/client.crt"
}

ask_for_certificate() {
  ask_peers 60 client "$request" >"$join_directory/answer" && read -r certificate authority <"$join_directory/answer" && [[ -n $authority ]]
}

run_step client client
