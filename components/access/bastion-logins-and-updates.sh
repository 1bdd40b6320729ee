# shellcheck shell=bash
# Sets up the operators' logins (authorized-keys.sh), closes connections to stopped machines
# (silent-channels.sh) and turns security updates on or off. Checks
# that sshd accepts enough connections for all machines at the same time. Keeps the bastion's
# addresses and routes during an update of systemd-networkd. Without addresses and routes of the
# bastion, no machine is reachable. Can run repeatedly.
# Result: {"startups": NUMBER}.

# Number of connections without a finished login that sshd must accept at the same time.
readonly wanted=100

bastion() {
  local startups
  install_login_keys
  limit_silent_channels
  startups=$(sshd -T | awk '$1 == "maxstartups" { split($2, of, ":"); print of[1] }')
  ((${startups:-0} >= wanted)) ||
    die "sshd on $(hostname) accepts only ${startups:-0} logins at the same time (MaxStartups), and the machines need $wanted; choose an image whose /etc/ssh/sshd_config includes /etc/ssh/sshd_config.d/*.conf"
  keep_network
  security_updates
  print_result startups "$startups"
}

run_step bastion bastion
