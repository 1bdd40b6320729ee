# shellcheck shell=bash disable=SC2154
# Formats and mounts the machine's volumes. Each is formatted once, while it is empty, and mounted
# before the service that stores data there starts. Precedes prepare.sh.
# Values: VOLUMES, a line `PURPOSE ID PATH MODE UNIT` for each, or `root ID`.

volumes() {
  local lines line purpose id path mode unit device link where
  mapfile -t lines <<<"$VOLUMES"
  for line in "${lines[@]}"; do
    read -r purpose id path mode unit <<<"$line"
    case $purpose in
      '') ;;
      root) same_server "$id" ;;
      *) mount_volume ;;
    esac
  done
}

# same_server ID: refuses a root volume of another server. If a server is deleted outside the
# program, the next server boots from its volume, which holds a node that no longer exists.
same_server() {
  local file=$state/server
  if [[ -e $file && $(<"$file") != "$SERVER_ID" ]]; then
    die "$(hostname) boots from the volume $1, on which a former server $(<"$file") was a node. Take what you need from it, then delete server and volume and run \`npx stackadm up --refresh\`: the machine is created again"
  fi
  write "$file" 0644 "$SERVER_ID"$'\n'
}

mount_volume() {
  poll 60 find_volume || die "the volume $id for $path is not attached to $(hostname); detach it from elsewhere, or delete the server and run \`npx stackadm up --refresh\`"
  # containerd and kubelet never start on the machine's own disk instead. The machine itself boots,
  # so that it can be inspected.
  write "/etc/systemd/system/$unit.service.d/10-stackadm-$purpose.conf" 0600 <<UNIT
[Unit]
RequiresMountsFor=$path
UNIT
  where=$(systemd-escape -p --suffix=mount "$path")
  write "/etc/systemd/system/$where" <<UNIT
[Mount]
What=$link
Where=$path
Type=ext4
Options=noatime
UNIT
  systemctl daemon-reload
  if ! mountpoint -q "$path"; then
    mkdir -p "$path"
    fill_volume
    if ! { systemctl start "$where" && mountpoint -q "$path"; }; then
      die "the volume $id cannot be mounted at $path on $(hostname)"
    fi
  fi
  # kubeadm wants an empty directory for etcd.
  if [[ -d $path/lost+found ]]; then rmdir "$path/lost+found"; fi
  chmod "$mode" "$path"
}

# find_volume: finds the device by its serial number, which is the volume's ID, as Cinder CSI does.
find_volume() {
  local name
  udevadm trigger --subsystem-match=block || :
  for name in "virtio-${id:0:20}" "virtio-$id" "scsi-0QEMU_QEMU_HARDDISK_${id:0:20}" "scsi-0QEMU_QEMU_HARDDISK_$id" "wwn-0x${id//-/}"; do
    link=/dev/disk/by-id/$name
    if device=$(readlink -e "$link"); then return 0; fi
  done
  return 1
}

# fill_volume: formats an empty volume under a temporary label. The volume gets its final label when
# the image's files are copied to it, too. A volume with that label, or one that the machine has
# recorded, is never formatted again.
fill_volume() {
  local code=0 label=stackadm-$purpose found done=$state/volumes/$id
  # blkid returns 2 for an empty device and also for one that it cannot read, so reading is tested
  # first.
  timeout "$((60 * factor))" dd if="$device" of=/dev/null bs=1M count=4 || die "the volume $id for $path cannot be read on $(hostname)"
  found=$(blkid -p -o value -s LABEL "$device") || code=$?
  case $code:$found in
    "0:$label") return ;;
    2: | 0:stackadm-new) ;;
    *) die "the volume $id for $path on $(hostname) holds data of somebody else, and is left as it is" ;;
  esac
  [[ ! -e $done ]] || die "the volume $id for $path on $(hostname) had data and seems to be empty; it is left as it is. Look at it with blkid"
  if [[ $code == 2 ]]; then
    say "$(hostname): formatting the volume for $path"
    mkfs.ext4 -q -L stackadm-new "$device" || die "the volume $id cannot be formatted on $(hostname)"
  fi
  bring_over
  e2label "$device" "$label" || die "the volume $id cannot be given its name on $(hostname)"
  write "$done" 0644 "$path"$'\n'
}

# bring_over: copies what a prebaked image has at the mount point, like container images.
bring_over() {
  local inside=$volatile/volume copied=yes
  [[ -n $(ls -A "$path") ]] || return 0
  systemctl stop "$unit" || :
  mkdir -p "$inside"
  mountpoint -q "$inside" || mount "$device" "$inside" || die "the volume $id cannot be mounted on $(hostname)"
  cp -a "$path/." "$inside/" || copied=no
  umount "$inside" || copied=no
  [[ $copied == yes ]] || die "what is in $path on $(hostname) cannot be copied to the volume $id"
}
