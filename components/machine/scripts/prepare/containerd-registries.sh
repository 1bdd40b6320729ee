# shellcheck shell=bash
# Writes containerd's registry settings. Library of prepare.sh.
# Values: REGISTRIES, a line "NAME BASE64" for each file in containerd's registry directory;
# REGISTRY_AUTH, the part of config.toml with passwords.

readonly certificates=/etc/containerd/certs.d written_registries=$state/registries

# Writes the files of the registry directory. containerd reads these files for every pull, so no
# restart is necessary.
write_registries() {
  local name data
  while read -r name data; do
    [[ -z $name ]] || base64 -d <<<"$data" | write "$certificates/$name"
  done <<<"$REGISTRIES"
  forget_registries
  awk 'NF { print $1 }' <<<"$REGISTRIES" | write "$written_registries"
}

# Deletes files that an earlier run wrote and that REGISTRIES does not contain any more.
forget_registries() {
  local name
  [[ -e $written_registries ]] || return 0
  while read -r name; do
    if awk -v name="$name" '$1 == name { found = 1 } END { exit !found }' <<<"$REGISTRIES"; then continue; fi
    rm -f "$certificates/$name"
    # Deletes the directory only if it is empty: it may contain files of other programs.
    rm -df "$certificates/${name%/*}" || :
  done <"$written_registries"
}

# containerd_config CONFIG: writes config.toml. Only root may read the file if it contains
# passwords.
containerd_config() {
  local mode=0644 config=$1
  if [[ -n $REGISTRY_AUTH ]]; then
    mode=0600
    config+=$'\n\n'$REGISTRY_AUTH
  fi
  write /etc/containerd/config.toml "$mode" "$config"$'\n'
}
