# shellcheck shell=bash
# Formats and mounts the machine's volumes. Formats each volume once, while it is empty. Mounts each
# volume before the service that stores data there starts. Runs before prepare.sh, in the same
# script.
# Values: VOLUMES, a line `PURPOSE ID PATH MODE UNIT` for each volume, or `root ID`.

mount_all_volumes() {
  local lines line purpose id path mode unit device link where
  mapfile -t lines <<<"$VOLUMES"
  for line in "${lines[@]}"; do
    read -r purpose id path mode unit <<<"$line"
    case $purpose in
      '') ;;
      root) check_server_id "$id" ;;
      *) mount_volume ;;
    esac
  done
}

# check_server_id ID: dies if the root volume belongs to another server. After a user deletes a
# server outside of this program, the next server boots from the former root volume, which contains
# a node that does not exist any more.
check_server_id() {
  local file=$state/server
  if [[ -e $file && $(<"$file") != "$SERVER_ID" ]]; then
    die "$(hostname) boots from the volume $1, on which a former server $(<"$file") was a node. Take what you need from it, then delete server and volume and run \`stackadm up --refresh\`: the machine is created again"
  fi
  write "$file" 0644 "$SERVER_ID"$'\n'
}

mount_volume() {
  poll 60 find_volume || die "the volume $id for $path is not attached to $(hostname); detach it from elsewhere, or delete the server and run \`stackadm up --refresh\`"
  # Without the volume, containerd and kubelet must not start, because they would use the root disk.
  # The machine still boots, so that the operator can examine it.
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
    format_volume
    if ! { systemctl start "$where" && mountpoint -q "$path"; }; then
      die "the volume $id cannot be mounted at $path on $(hostname)"
    fi
  fi
  # kubeadm requires an empty directory for etcd.
  if [[ -d $path/lost+found ]]; then rmdir "$path/lost+found"; fi
  chmod "$mode" "$path"
}

# Sets `link` and `device` to the device whose serial number is the volume's ID, as Cinder CSI does.
find_volume() {
  local name
  udevadm trigger --subsystem-match=block || :
  for name in "virtio-${id:0:20}" "virtio-$id" "scsi-0QEMU_QEMU_HARDDISK_${id:0:20}" "scsi-0QEMU_QEMU_HARDDISK_$id" "wwn-0x${id//-/}"; do
    link=/dev/disk/by-id/$name
    if device=$(readlink -e "$link"); then return 0; fi
  done
  return 1
}

# Formats an empty volume under a temporary label, and copies the image's files to the volume. Then
# sets the final label. Never formats a volume that has the final label or that the machine has
# recorded.
format_volume() {
  local code=0 label=stackadm-$purpose found done=$state/volumes/$id
  # Reads from the device first, because blkid also returns 2 for a device that it cannot read.
  timeout "$((60 * factor))" dd if="$device" of=/dev/null bs=1M count=4 || die "the volume $id for $path cannot be read on $(hostname)"
  found=$(blkid -p -o value -s LABEL "$device") || code=$?
  case $code:$found in
    "0:$label") return ;;
    2: | 0:stackadm-new) ;;
    *) die "the volume $id for $path on $(hostname) has data that are not from this cluster, and is not changed; detach it and attach another volume, or delete its data" ;;
  esac
  [[ ! -e $done ]] || die "the volume $id for $path on $(hostname) had data and seems to be empty; it is left as it is. Look at it with blkid"
  if [[ $code == 2 ]]; then
    say "$(hostname): formatting the volume for $path"
    mkfs.ext4 -q -L stackadm-new "$device" || die "the volume $id cannot be formatted on $(hostname)"
  fi
  copy_image_files
  e2label "$device" "$label" || die "the volume $id cannot be labelled on $(hostname)"
  write "$done" 0644 "$path"$'\n'
}

# Copies the files that a prebaked image has at the mount point, for example container images.
copy_image_files() {
  local inside=$volatile/volume copied=yes
  [[ -n $(ls -A "$path") ]] || return 0
  systemctl stop "$unit" || :
  mkdir -p "$inside"
  mountpoint -q "$inside" || mount "$device" "$inside" || die "the volume $id cannot be mounted on $(hostname)"
  cp -a "$path/." "$inside/" || copied=no
  umount "$inside" || copied=no
  [[ $copied == yes ]] || die "what is in $path on $(hostname) cannot be copied to the volume $id"
}
