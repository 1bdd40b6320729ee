# shellcheck shell=bash
# Functions that explain failed downloads. Reads no values.

# redact_url ADDRESS: prints the address without user, query and fragment, which may contain a
# password.
redact_url() { sed -E 's|[?#].*||; s|^([A-Za-z]+://)[^/]*@|\1|' <<<"$1"; }

# Pairs: a pattern for errors of curl, apt, kubeadm and containerd, in lower case, and a remedy. The
# first matching pattern counts.
readonly remedies=(
  ' 407 ' 'correct user and password in network.proxy'
  'resolve proxy|from proxy|proxy connect|proxyconnect|connect tunnel' 'correct network.proxy, or have the proxy let it through'
  ' 429 |toomanyrequests|rate limit' 'run the same command again later, as that host limits what one address may fetch and machines behind one router share theirs'
  ' 40[13] |denied|authorization' 'have it let these machines read'
  ' 4(04|10) |not found' 'look whether that is published there'
  'certificate|x509|handshake' "have the image trust the authority of what answers there, and look at the machine's clock"
  'could not resolve|failure resolving|no such host|server misbehaving' 'let the name servers of the machine know that host'
  'nosplit|html|empty|openpgp|redirect' 'look at what answers there, which may be a page for signing in'
  'signature|public key' 'look at the key that signs it'
  'no space|free space' 'give the machine more room'
  ' 5[0-9][0-9] ' 'run the same command again later'
  'connect|no answer|timed out|timeout|unreachable|refused|reset|closed|eof' 'let the machine reach it, by a router, by security groups or by network.proxy'
  '' ''
)

# print_remedy TEXT [OTHERWISE]: prints "; " and the remedy for the error of a tool, or nothing.
# OTHERWISE is a further remedy that fits any error, for example another address.
print_remedy() {
  local said=" ${1,,} " pair todo
  said=${said//[$'\n';,)]/ }
  for ((pair = 0; pair < ${#remedies[@]}; pair += 2)); do
    if [[ $said =~ ${remedies[pair]} ]]; then break; fi
  done
  todo=${remedies[pair + 1]}
  if [[ -n $todo && -n ${2:-} ]]; then todo+=', or '; fi
  todo+=${2:-}
  printf '%s' "${todo:+; $todo}"
}

# pull_image SECONDS IMAGE: pulls an image, for at most SECONDS times `factor`.
pull_image() {
  local code=0
  timeout "$(($1 * factor))" crictl pull "$2" >"$volatile/pull" 2>&1 || code=$?
  cat "$volatile/pull"
  return "$code"
}

# print_pull_error IMAGE: prints ": ", the error of the image's last pull, and a remedy.
print_pull_error() {
  local said
  said=$(sed -n 's/^.*\(level=fatal msg="\|FATA\[[0-9]*\] \)//; T; s/\\"/"/g; s/^pulling image: //; s/^.*failed to resolve reference "[^"]*": //; s/"$//; p' "$volatile/pull" | tail -n 1)
  [[ -n $said ]] || said='no answer in time'
  printf ': %s%s' "$said" "$(print_image_remedy "$said" "$1")"
}

# print_image_remedy TEXT IMAGE: prints the remedy for an error during the pull of the image.
print_image_remedy() {
  local host=${2%%/*}
  if [[ $host != *[.:]* ]]; then host=docker.io; fi
  print_remedy "$1" "write a mirror, or a user and a password, in kubernetes.registries[\"$host\"]"
}

# Finds the first image that prepare.sh began to pull and that cannot be pulled. Prints "; " and the
# error of this image, or nothing.
print_missing_image() {
  local image
  [[ -e $volatile/images ]] || return 0
  while read -r image; do
    if [[ -z $image || -n $(timeout "$((20 * factor))" crictl images --quiet "$image") ]]; then continue; fi
    if pull_image 60 "$image" </dev/null >&2; then continue; fi
    printf '; %s cannot be pulled%s' "$image" "$(print_pull_error "$image")"
    return 0
  done <"$volatile/images"
}

# Prints ": " and kubeadm's error in this run, or nothing. Adds a remedy if the error is about an
# image.
print_kubeadm_error() {
  local said
  said=$(print_tool_error kubeadm)
  printf '%s' "$said"
  if [[ $said =~ ERROR\ ImagePull\]:\ failed\ to\ pull\ image\ \"?([^\"\ :]+) ]]; then print_image_remedy "$said" "${BASH_REMATCH[1]}"; fi
}
