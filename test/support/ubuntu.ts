/** A release of Ubuntu: facts of its images that scripts on machines read. Its packages are not to be had where these tests run. */
export interface UbuntuRelease {
  readonly version: string;
  readonly codename: string;
  /** Fields of /etc/os-release that are not the same in every release. */
  readonly name: string;
  /** Version of systemd. */
  readonly systemd: number;
  /** A build of containerd as the distribution numbers it, of the version that it has in November 2026. */
  readonly containerd: string;
}

export const ubuntuReleases: readonly UbuntuRelease[] = [
  {
    ...{ version: "22.04", codename: "jammy", name: "Jammy Jellyfish", systemd: 249 },
    containerd: "2.2.1-0ubuntu1~22.04.1",
  },
  {
    ...{ version: "24.04", codename: "noble", name: "Noble Numbat", systemd: 255 },
    containerd: "2.2.1-0ubuntu1~24.04.1",
  },
  {
    ...{ version: "26.04", codename: "resolute", name: "Resolute Raccoon", systemd: 259 },
    containerd: "2.2.2-0ubuntu1",
  },
];

/** Returns /etc/os-release. */
export const osRelease = ({ version, codename, name }: UbuntuRelease): string =>
  [
    `PRETTY_NAME="Ubuntu ${version} LTS"`,
    'NAME="Ubuntu"',
    `VERSION_ID="${version}"`,
    `VERSION="${version} LTS (${name})"`,
    `VERSION_CODENAME=${codename}`,
    ...["ID=ubuntu", "ID_LIKE=debian", 'HOME_URL="https://www.ubuntu.com/"'],
    `UBUNTU_CODENAME=${codename}`,
    ...(version === "22.04" ? [] : ["LOGO=ubuntu-logo"]),
    "",
  ].join("\n");

/** Returns what cloud-init 26.1, which all three releases have, makes of network_data.json with two ports: one by DHCP, one without. */
export const netplanOf = (macs: readonly [string, string]): string => `network:
    version: 2
    ethernets:
        ens3:
            dhcp4: true
            match:
                macaddress: ${macs[0]}
            mtu: 1442
            set-name: ens3
        ens4:
            addresses:
            - 10.9.0.5/24
            match:
                macaddress: ${macs[1]}
            mtu: 1442
            nameservers:
                addresses:
                - 10.9.0.2
            routes:
            -   to: 0.0.0.0/0
                via: 10.9.0.1
            set-name: ens4
`;

/** An interface as systemd-networkd knows it. */
export interface NetworkdLink {
  readonly device: string;
  /** The file that configures it. */
  readonly file: string;
  /** The files that complete that one. */
  readonly completed?: readonly string[];
}

/**
 * Returns what `networkctl status` prints of an interface into a pipe. 249 has other words for the hardware address, and fills lines up
 * with spaces. Later ones name what completes a file in lines below it: 259 by its source, 255 taken to be alike.
 */
export function networkctlStatus(
  systemd: number,
  { device, file, completed = [] }: NetworkdLink,
): string {
  const field = (name: string, first: string, ...more: readonly string[]): string[] => [
    `${`${name}:`.padStart(30)} ${first}`,
    ...more.map((line) => `${" ".repeat(31)}${line}`),
  ];
  const mark = (index: number): string => (index < completed.length - 1 ? "├" : "└");
  const below = systemd < 255 ? [] : completed.map((path, index) => `${mark(index)}─${path}`);
  const lines = [
    `● 2: ${device}`,
    ...field("Link File", `/run/systemd/network/10-netplan-${device}.link`),
    ...field("Network File", file, ...below),
    ...field("State", "routable (configured)"),
    ...field("Online state", "online"),
    ...field("Type", "ether"),
    ...field(systemd < 250 ? "HW Address" : "Hardware Address", "fa:16:3e:00:00:01"),
    ...field("Address", "10.0.0.7 (DHCP4 via 10.0.0.2)", "fe80::f816:3eff:fe00:1"),
    "",
    `Nov 27 06:31:00 machine systemd-networkd[412]: ${device}: Configuring with ${file}.`,
  ];
  const printed = systemd < 250 ? lines.map((line) => line.padEnd(80)) : lines;
  return `${printed.join("\n")}\n`;
}
