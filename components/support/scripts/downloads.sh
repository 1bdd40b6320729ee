# shellcheck shell=bash disable=SC2154
# Sentences about a download that brought something other than what was wanted. Reads no values.

# shown ADDRESS: leaves out what may be a password: user, query and fragment.
shown() { sed -E 's|[?#].*||; s|^([A-Za-z]+://)[^/]*@|\1|' <<<"$1"; }

# Pairs: a pattern of what curl, apt, kubeadm and containerd say, in small letters, and what to do about it. The first that fits counts.
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

# remedy TEXT [OTHERWISE]: "; " and what to do about what a tool said, or nothing. OTHERWISE always helps, like another address.
remedy() {
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

# pull_image SECONDS IMAGE: takes at most SECONDS times `factor`.
pull_image() {
  local code=0
  timeout "$(($1 * factor))" crictl pull "$2" >"$volatile/pull" 2>&1 || code=$?
  cat "$volatile/pull"
  return "$code"
}

# pull_fault IMAGE: ": ", what was wrong with its last pull, and what to do about it.
pull_fault() {
  local said
  said=$(sed -n 's/^.*\(level=fatal msg="\|FATA\[[0-9]*\] \)//; T; s/\\"/"/g; s/^pulling image: //; s/^.*failed to resolve reference "[^"]*": //; s/"$//; p' "$volatile/pull" | tail -n 1)
  [[ -n $said ]] || said='no answer in time'
  printf ': %s%s' "$said" "$(image_remedy "$said" "$1")"
}

# image_remedy TEXT IMAGE
image_remedy() {
  local host=${2%%/*}
  if [[ $host != *[.:]* ]]; then host=docker.io; fi
  remedy "$1" "write a mirror, or a user and a password, in kubernetes.registries[\"$host\"]"
}

# absent_image: "; " and why the first of the images that prepare.sh began to pull cannot be had, or nothing.
absent_image() {
  local image
  [[ -e $volatile/images ]] || return 0
  while read -r image; do
    if [[ -z $image || -n $(timeout "$((20 * factor))" crictl images --quiet "$image") ]]; then continue; fi
    if pull_image 60 "$image" </dev/null >&2; then continue; fi
    printf '; %s cannot be pulled%s' "$image" "$(pull_fault "$image")"
    return 0
  done <"$volatile/images"
}

# kubeadm_fault: ": ", what kubeadm said was wrong in this run, and what to do where that is an image, or nothing.
kubeadm_fault() {
  local said
  said=$(because kubeadm)
  printf '%s' "$said"
  if [[ $said =~ ERROR\ ImagePull\]:\ failed\ to\ pull\ image\ \"?([^\"\ :]+) ]]; then image_remedy "$said" "${BASH_REMATCH[1]}"; fi
}
