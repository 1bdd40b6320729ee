# shellcheck shell=bash disable=SC2154
# How fast the disk of etcd makes small writes durable. Read by the scripts that come after this one.
# Values: ETCD_DISK, where etcd will have its data; empty on machines without it.

# etcd's own recommendation, in milliseconds, for 99 of 100 writes.
readonly fast_enough=10

# measure_disk: before anything else writes there, and never beside an etcd that runs. A slow disk is said, not refused.
measure_disk() {
  local slowest
  [[ -n $ETCD_DISK && ! -d $ETCD_DISK/member ]] || return 0
  mkdir -p "$ETCD_DISK"
  chmod 0700 "$ETCD_DISK"
  slowest=$(timeout 20 perl -e "$sync_latency" "$ETCD_DISK/.latency") || slowest=''
  rm -f "$ETCD_DISK/.latency"
  if [[ $slowest =~ ^[0-9]+$ ]] && ((slowest > fast_enough)); then
    printf 'note: the disk of %s is slow for etcd: 1 of 100 small writes takes %s ms or longer to be durable, and more than %s ms make the cluster unsteady; choose a flavor or volume with faster writes\n' \
      "$(hostname)" "$slowest" "$fast_enough" >&3
  fi
}

# Writes of the size of etcd's log for a second, at least 20; prints how many milliseconds 99 of 100 of them needed.
# shellcheck disable=SC2016 # it is perl
readonly sync_latency='
use Time::HiRes "time";
use IO::Handle;
open(my $file, ">", $ARGV[0]) or exit 1;
my ($begin, @took) = (time);
while (@took < 20 or time - $begin < 1) {
  my $before = time;
  syswrite($file, "x" x 2300) == 2300 or exit 1;
  $file->sync or exit 1;
  push @took, time - $before;
}
@took = sort { $a <=> $b } @took;
printf "%d", 1000 * $took[int(0.99 * $#took + 0.5)];
'
