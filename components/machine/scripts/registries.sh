# shellcheck shell=bash disable=SC2154
# What containerd has to know of registries. Read by prepare.sh. Values: REGISTRIES, a line "NAME BASE64" for each file below
# containerd's folder of registries; REGISTRY_AUTH, the part of its own configuration with passwords.

readonly certificates=/etc/containerd/certs.d written_registries=$state/registries

# containerd reads these files anew for every pull.
registries() {
  local name data
  while read -r name data; do
    [[ -z $name ]] || base64 -d <<<"$data" | write "$certificates/$name"
  done <<<"$REGISTRIES"
  forget_registries
  awk 'NF { print $1 }' <<<"$REGISTRIES" | write "$written_registries"
}

# Those that this wrote and nobody asks for any more.
forget_registries() {
  local name
  [[ -e $written_registries ]] || return 0
  while read -r name; do
    if awk -v name="$name" '$1 == name { found = 1 } END { exit !found }' <<<"$REGISTRIES"; then continue; fi
    rm -f "$certificates/$name"
    # A folder that is empty means nothing; one with files of somebody else's stays.
    rm -df "$certificates/${name%/*}" || :
  done <"$written_registries"
}

# containerd_config CONFIG: only root reads it where passwords are in it.
containerd_config() {
  local mode=0644 config=$1
  if [[ -n $REGISTRY_AUTH ]]; then
    mode=0600
    config+=$'\n\n'$REGISTRY_AUTH
  fi
  write /etc/containerd/config.toml "$mode" "$config"$'\n'
}
