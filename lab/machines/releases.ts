/** A release of Debian whose generic cloud image the lab has as a virtual machine's image. */
export interface Release {
  readonly suite: string;
  readonly version: string;
}

export const releases: readonly Release[] = [
  { suite: "bookworm", version: "12" },
  { suite: "trixie", version: "13" },
];

/** Name in Glance. */
export const imageName = ({ version }: Release): string => `debian-${version}-emulated`;

/**
 * What Debian's generic cloud image has, as far as a machine of a cluster meets it: nothing more, so that the program has to install
 * what it needs.
 */
export const packages: readonly string[] = [
  ..."systemd systemd-sysv systemd-resolved systemd-timesyncd libpam-systemd dbus udev".split(" "),
  ..."linux-image-cloud-amd64 initramfs-tools netplan.io iproute2 iputils-ping".split(" "),
  ..."cloud-init cloud-guest-utils openssh-server sudo apparmor unattended-upgrades".split(" "),
  ..."ca-certificates curl e2fsprogs fdisk kmod procps python3 less cron bind9-host".split(" "),
  ..."tcpdump vim-tiny apt-utils".split(" "),
];

/** Identity of the root partition; each published image has one of its own. */
export const partitionId = "6f1c7c52-0d5e-4f5e-9d0b-4c9c5f1d0d13";

/** Command line of the published image's kernel. Without GRUB, Nova passes it on. */
export const kernelCommandLine = `root=PARTUUID=${partitionId} ro console=tty0 console=ttyS0,115200 consoleblank=0`;

const archive = "mirror+file:///etc/apt/mirrors/debian.list";
const security = "mirror+file:///etc/apt/mirrors/debian-security.list";

const source = (uri: string, suites: string): string =>
  [
    ...["Types: deb", `URIs: ${uri}`, `Suites: ${suites}`, "Components: main"],
    "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
  ].join("\n");

/** Every network card, by DHCP: cloud-init's description, where there is one, comes on top. */
const network = `network:
    version: 2
    ethernets:
        all-en:
            match: { name: en* }
            dhcp4: true
            dhcp4-overrides: { use-domains: true }
            dhcp6: true
            dhcp6-overrides: { use-domains: true }
        all-eth:
            match: { name: eth* }
            dhcp4: true
            dhcp4-overrides: { use-domains: true }
            dhcp6: true
            dhcp6-overrides: { use-domains: true }
`;

export interface ImageFile {
  readonly content: string;
  /** Default: 0644. */
  readonly mode?: number;
}

/** Files of the image by their path in it, as the published image has them. */
export const files = ({ suite }: Release): Readonly<Record<string, ImageFile>> => ({
  // Made at the first boot.
  "etc/machine-id": { content: "" },
  "etc/default/locale": { content: "LANG=C.UTF-8\n" },
  "etc/fstab": {
    content: `PARTUUID=${partitionId} / ext4 rw,discard,errors=remount-ro,x-systemd.growfs 0 1\n`,
  },
  "etc/netplan/90-default.yaml": { content: network, mode: 0o600 },
  "etc/apt/mirrors/debian.list": { content: "https://deb.debian.org/debian\n" },
  "etc/apt/mirrors/debian-security.list": { content: "https://deb.debian.org/debian-security\n" },
  "etc/apt/sources.list.d/debian.sources": {
    content: [
      source(archive, `${suite} ${suite}-updates`),
      source(security, `${suite}-security`),
    ].join("\n"),
  },
});
