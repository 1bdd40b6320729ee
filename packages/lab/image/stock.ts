/** Release of Debian for which the lab builds server images. */
export interface DebianRelease {
  readonly suite: string;
  readonly version: string;
}

/**
 * Packages of Debian's published generic cloud image that a cluster's machines use, without the
 * kernel. Other packages are left out on purpose: the program must install them itself.
 */
export const stockPackages: readonly string[] = [
  ..."systemd systemd-sysv systemd-resolved systemd-timesyncd libpam-systemd dbus udev".split(" "),
  ..."netplan.io iproute2 iputils-ping cloud-init cloud-guest-utils openssh-server sudo".split(" "),
  ..."apparmor unattended-upgrades ca-certificates curl e2fsprogs fdisk kmod procps".split(" "),
  ..."python3 less cron bind9-host tcpdump vim-tiny apt-utils".split(" "),
];

/**
 * Units that are enabled in the published image. The installation of their packages does not enable
 * these units if systemd does not run.
 */
export const stockUnits: readonly string[] = [
  "systemd-networkd",
  "systemd-resolved",
  "systemd-timesyncd",
];

const archive = "mirror+file:///etc/apt/mirrors/debian.list";
const security = "mirror+file:///etc/apt/mirrors/debian-security.list";

const source = (uri: string, suites: string): string =>
  [
    ...["Types: deb", `URIs: ${uri}`, `Suites: ${suites}`, "Components: main"],
    "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
  ].join("\n");

/**
 * Netplan configuration: DHCP on every network card. netplan adds the configuration that cloud-init
 * writes.
 */
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

/**
 * Settings of cloud-init in the published image. cloud-init writes mirrors to the mirror lists that
 * apt's sources name, not to a second list of sources.
 */
const cloudInit = "apt:\n  generate_mirrorlists: true\nmanage_etc_hosts: true\n";

export interface ImageFile {
  readonly content: string;
  /** Mode of the file. @default 0644 */
  readonly mode?: number;
}

/**
 * Returns a map from a path in the image to its file. The files are equal to the files of the
 * published image. In the lab, the front answers for the mirrors.
 */
export const getStockFiles = ({ suite }: DebianRelease): Readonly<Record<string, ImageFile>> => ({
  // The file is empty, so that the first boot creates the ID.
  "etc/machine-id": { content: "" },
  "etc/default/locale": { content: "LANG=C.UTF-8\n" },
  "etc/netplan/90-default.yaml": { content: network, mode: 0o600 },
  "etc/cloud/cloud.cfg.d/01_debian_cloud.cfg": { content: cloudInit },
  "etc/apt/mirrors/debian.list": { content: "https://deb.debian.org/debian\n" },
  "etc/apt/mirrors/debian-security.list": { content: "https://deb.debian.org/debian-security\n" },
  "etc/apt/sources.list.d/debian.sources": {
    content: [
      source(archive, `${suite} ${suite}-updates`),
      source(security, `${suite}-security`),
    ].join("\n"),
  },
});
