/**
 * Release of Ubuntu, with the facts about its images that machine scripts read. The tests cannot
 * install the packages of Ubuntu.
 */
export interface UbuntuRelease {
  readonly version: string;
  readonly codename: string;
  /** Name in /etc/os-release. */
  readonly name: string;
  /** Version of systemd. */
  readonly systemd: number;
  /** Version of the containerd package in the distribution, as of November 2026. */
  readonly containerd: string;
}

export const ubuntuReleases: readonly UbuntuRelease[] = [
  {
    version: "22.04",
    codename: "jammy",
    name: "Jammy Jellyfish",
    systemd: 249,
    containerd: "2.2.1-0ubuntu1~22.04.1",
  },
  {
    version: "24.04",
    codename: "noble",
    name: "Noble Numbat",
    systemd: 255,
    containerd: "2.2.1-0ubuntu1~24.04.1",
  },
  {
    version: "26.04",
    codename: "resolute",
    name: "Resolute Raccoon",
    systemd: 259,
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

/**
 * Returns the netplan file that cloud-init 26.1 writes for two ports. All three releases contain
 * this version of cloud-init. The first port uses DHCP, and the second does not. The file was
 * compared with the output of cloud-init's renderer for a network_data.json of Nova. netplan 0.106,
 * with which the tests run, makes the same .network files from it as netplan 1.1.2 and 1.2.2.
 */
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

/** Interface as systemd-networkd reports it. */
export interface NetworkdLink {
  readonly device: string;
  /** File that configures the interface. */
  readonly file: string;
  /** Drop-in files of the file in `file`. */
  readonly completed?: readonly string[];
}

/**
 * Returns the output of `networkctl status` if it is written to a pipe. systemd 249 has another
 * name for the hardware address and adds spaces at the end of lines. Later versions list drop-ins
 * below the file. This was read in the source of 257 and 259, and is assumed for 255.
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
