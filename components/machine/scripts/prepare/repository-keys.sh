# shellcheck shell=bash
# Installs the keys with which this machine trusts package repositories. Library of prepare.sh,
# after proxy.sh. Values: PACKAGES_URL, PACKAGES_KEY_FINGERPRINT, NEWEST_PACKAGES_URL.

readonly keyring=/etc/apt/keyrings/stackadm.asc package_list=/etc/apt/sources.list.d/stackadm.list

# Writes the source list. Only root may read the list if the repository's URL contains a user and a
# password.
write_source_list() {
  printf 'deb [signed-by=%s] %s /\n' "$keyring" "$PACKAGES_URL" |
    write "$package_list" "$(if has_login <<<"$PACKAGES_URL"; then printf 0600; else printf 0644; fi)"
}

# Succeeds if a URL on standard input contains a user.
has_login() { grep -q '://[^/[:space:]]*@'; }

# Installs the key of the repository for Kubernetes. The repository of an old minor version keeps
# its last copy of the key, which expires. The repository of a newer minor version has the same key
# with a later expiry date.
install_kubernetes_key() {
  install_key kubernetes.packages.url "$PACKAGES_URL" "${PACKAGES_URL}Release.key" "$PACKAGES_KEY_FINGERPRINT" "$keyring" \
    "${NEWEST_PACKAGES_URL:+${NEWEST_PACKAGES_URL}Release.key}"
}

# install_key SETTING REPOSITORY ADDRESS FINGERPRINT KEYRING [NEWER]: writes the pinned key into the
# keyring. Exports only the pinned key, because a file may contain any number of keys and apt would
# trust all of them. SETTING is the option that contains ADDRESS. If the key at ADDRESS has expired,
# uses the key at NEWER.
install_key() {
  local found end newer=${6:-} home=$volatile/gnupg key=$volatile/key.asc
  install_key_tools
  fetch_key "$3" "$key" ||
    die "$1: $(hostname) asked $(redact_url "$3") for the key of $(redact_url "$2") and got $fetch_error$(print_redirect_target "$3")$(print_remedy "$fetch_error" "write another address in $1")"
  found=$(primary_keys <"$key")
  grep -qxF "$4" <<<"$found" ||
    die_as INVALID_CONFIG "${1%.*}.keyFingerprint: $(redact_url "$2") is signed by ${found//$'\n'/ and }, not by $4"
  if end=$(print_expiry "$4" <"$key"); then
    fetch_newer_key "$newer" "$4" "$key" ||
      die_as INVALID_CONFIG "$1: the key $4 of $(redact_url "$2") expired on $(date -u -d "@$end" +%F)${newer:+, and $(redact_url "$newer") has no later copy of it}; write another address in $1 that has one, or look at the clock of $(hostname), which says $(date -u +%F)"
    say "$(hostname): the key of $(redact_url "$2") has expired there; taking its later copy from $(redact_url "$newer")"
  fi
  rm -rf "$home"
  mkdir -m 0700 "$home"
  gpg --homedir "$home" --batch --no-autostart --import "$key"
  gpg --homedir "$home" --batch --no-autostart --armor --export-options export-minimal --export "$4" |
    write "$5"
  rm -rf "$home"
}

# fetch_newer_key ADDRESS FINGERPRINT FILE: downloads a later copy of the key. Fails if this copy
# has expired, too.
fetch_newer_key() {
  [[ -n $1 ]] && fetch_key "$1" "$3" && grep -qxF "$2" <<<"$(primary_keys <"$3")" || return 1
  ! print_expiry "$2" <"$3"
}

install_key_tools() {
  mkdir -p "$volatile"
  if command -v curl && command -v gpg; then return 0; fi
  apt_install curl gnupg ca-certificates ||
    die "curl, gnupg and ca-certificates cannot be installed on $(hostname)$(print_apt_error)"
}

# fetch_key ADDRESS FILE: downloads a file like `fetch`. Also fails if the file contains no key.
fetch_key() {
  fetch "$@" || return 1
  if [[ -n $(primary_keys <"$2") ]]; then return 0; fi
  fetch_error='no OpenPGP key'
  return 1
}

# print_redirect_target ADDRESS: prints " from" and the URL at which the redirects ended. Prints
# nothing if this URL is ADDRESS.
print_redirect_target() { [[ $final_url == "$1" ]] || printf ' from %s' "$(redact_url "$final_url")"; }

# fetch ADDRESS FILE: downloads a file. Follows at most 5 redirects, each through the proxy for the
# URL's scheme, but none from https to http. Sets `final_url` to the URL that answered last, and on
# failure `fetch_error` to the description of the answer.
fetch() {
  local answer='' next='' said='' code hops=0 options address
  final_url=$1 fetch_error=''
  options=(--fail --silent --show-error --retry 5 --retry-connrefused --retry-max-time 120 --max-time 60)
  options+=(--proto '=http,https' --output "$2" --write-out '%{http_code} %{redirect_url}\n%{errormsg}')
  until ((hops++ > 5)); do
    code=0
    # Creates the file, because curl creates no file for an empty answer.
    : >"$2"
    address=("$final_url")
    # All users of the machine can read the arguments of a command, so a URL with a password is not
    # an argument.
    if has_login <<<"$final_url"; then address=(--config -); fi
    answer=$(curl "${options[@]}" ${PROXY:+--config "$proxy_home/curl-${final_url%%:*}"} "${address[@]}" <<<"url = $final_url") || code=$?
    # Removes times such as "after 404 ms", which `print_remedy` would read as an HTTP status.
    said=$(tail -n +2 <<<"$answer" | sed 's/ after [0-9]* ms//')
    read -r answer next <<<"${answer%%$'\n'*}"
    case $code in
      0) fetch_error=$(if [[ -n $next ]]; then refused_redirect "$next"; else describe_wrong_content "$2"; fi) ;;
      22) fetch_error="HTTP $answer" ;;
      60) fetch_error="a certificate that it does not trust ($said)" ;;
      *) fetch_error="no answer (${said:-curl ended with code $code})" ;;
    esac
    if [[ -n $fetch_error ]]; then return 1; fi
    if [[ -z $next ]]; then return 0; fi
    final_url=$next
  done
  fetch_error='more than 5 redirects'
  return 1
}

# refused_redirect ADDRESS: prints why `final_url` must not redirect to ADDRESS. Prints nothing if
# the redirect is allowed.
refused_redirect() {
  if [[ $1 == https:* ]] || [[ $1 == http:* && $final_url == http:* ]]; then return 0; fi
  printf 'a redirect to %s, which is not encrypted or no web address' "$(redact_url "$1")"
}

# describe_wrong_content FILE: prints what the server sent instead of a file. Prints nothing if FILE
# looks like a normal file.
describe_wrong_content() {
  if [[ ! -s $1 ]]; then
    printf 'an empty answer'
  elif grep -aEqi '<(html|!doctype html)' "$1"; then
    printf 'an HTML page'
  fi
}

# Prints the fingerprints of the keys on standard input, without subkeys. Prints nothing if there
# are no keys.
primary_keys() {
  list_keys | awk -F: '$1 == "pub" { primary = 1 } $1 == "fpr" && primary { print $10; primary = 0 }'
}

# print_expiry FINGERPRINT: prints when the key on standard input expired, in seconds since 1970.
# Fails if the key has not expired.
print_expiry() {
  list_keys | awk -F: -v wanted="$1" '
    $1 == "pub" { expired = $2 == "e"; end = $7; primary = 1 }
    $1 == "fpr" && primary { primary = 0; if ($10 == wanted && expired) { print end; found = 1 } }
    END { exit !found }'
}

list_keys() { gpg --homedir "$volatile" --batch --no-autostart --show-keys --with-colons || :; }

# Fails if the keyring contains other keys.
only_pinned_trusted() { [[ ! -e $keyring || $(primary_keys <"$keyring") == "$PACKAGES_KEY_FINGERPRINT" ]]; }
