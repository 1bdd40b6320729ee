import {
  getStockFiles,
  stockPackages,
  type ImageFile,
  type DebianRelease,
} from "../image/stock.js";

/**
 * Debian releases for which the lab has images of virtual machines, like Debian's generic cloud
 * image.
 */
export const debianReleases: readonly DebianRelease[] = [
  { suite: "bookworm", version: "12" },
  { suite: "trixie", version: "13" },
];

/** Returns the image's name in Glance. */
export const getMachineImageName = ({ version }: DebianRelease): string =>
  `debian-${version}-emulated`;

export const machineImagePackages: readonly string[] = [
  ...stockPackages,
  ...["linux-image-cloud-amd64", "initramfs-tools"],
];

/** ID of the root partition. Each published image has a different ID. */
export const partitionId = "6f1c7c52-0d5e-4f5e-9d0b-4c9c5f1d0d13";

/**
 * Command line of the published image's kernel. There is no GRUB, so Nova passes the command line
 * to the kernel.
 */
export const kernelCommandLine = `root=PARTUUID=${partitionId} ro console=tty0 console=ttyS0,115200 consoleblank=0`;

/** Returns a map from a path in the image to its file. */
export const getMachineImageFiles = (
  release: DebianRelease,
): Readonly<Record<string, ImageFile>> => ({
  ...getStockFiles(release),
  "etc/fstab": {
    content: `PARTUUID=${partitionId} / ext4 rw,discard,errors=remount-ro,x-systemd.growfs 0 1\n`,
  },
});
