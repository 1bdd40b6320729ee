# shellcheck shell=bash disable=SC2154
# Writes containerd's settings of registries. Library of prepare.sh. Values: REGISTRIES, a line
# "NAME BASE64" for each file in containerd's registry directory; REGISTRY_AUTH, the part of
# config.toml with passwords.

readonly certificates=/etc/containerd/certs.d written_registries=$state/registries

# registries: containerd reads these files again for every pull, so it is not restarted.
registries() {
  local name data
  while read -r name data; do
    [[ -z $name ]] || base64 -d <<<"$data" | write "$certificates/$name"
  done <<<"$REGISTRIES"
  forget_registries
  awk 'NF { print $1 }' <<<"$REGISTRIES" | write "$written_registries"
}

# forget_registries: deletes files that an earlier run wrote and that are no longer wanted.
forget_registries() {
  local name
  [[ -e $written_registries ]] || return 0
  while read -r name; do
    if awk -v name="$name" '$1 == name { found = 1 } END { exit !found }' <<<"$REGISTRIES"; then continue; fi
    rm -f "$certificates/$name"
    # Deletes only an empty directory: it may hold files that the program did not write.
    rm -df "$certificates/${name%/*}" || :
  done <"$written_registries"
}

# containerd_config CONFIG: writes config.toml, which only root may read if it contains passwords.
containerd_config() {
  local mode=0644 config=$1
  if [[ -n $REGISTRY_AUTH ]]; then
    mode=0600
    config+=$'\n\n'$REGISTRY_AUTH
  fi
  write /etc/containerd/config.toml "$mode" "$config"$'\n'
}
