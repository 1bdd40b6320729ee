/*
 * Contains the relevant lines of files in Ubuntu's cloud images, without comments.
 *
 * Sources of 22.04: /etc of a machine of July 2022 (repository matsuu/isucon12q, 5beee9a). Sources
 * of 24.04: /etc of a machine of December 2024 (repository yukikamome316/isucon14, 4eaccfd). For
 * 26.04, no /etc of a machine was found. Its files come from two packages: unattended-upgrades 2.12
 * (repository mvo5/unattended-upgrades, 26ae30d) and needrestart 3.11 (repository
 * KarotsSugarpie/PinCabOS, 701a9628). The settings of its sshd are unknown, so tests use the
 * settings of 24.04.
 */

/**
 * Allowed origins in /etc/apt/apt.conf.d/50unattended-upgrades. All three releases have the same.
 */
export const upgradedOrigins: readonly string[] = [
  "${distro_id}:${distro_codename}",
  "${distro_id}:${distro_codename}-security",
  "${distro_id}ESMApps:${distro_codename}-apps-security",
  "${distro_id}ESM:${distro_codename}-infra-security",
];

const list = (values: readonly string[]): string =>
  `{\n${values.map((value) => `\t"${value}";\n`).join("")}};\n`;

/**
 * Files of /etc/apt/apt.conf.d, by name. 10periodic and 50command-not-found are from 22.04 and
 * 24.04.
 */
export const aptSettings: Readonly<Record<string, string>> = {
  "10periodic": [
    'APT::Periodic::Update-Package-Lists "1";',
    'APT::Periodic::Download-Upgradeable-Packages "0";',
    'APT::Periodic::AutocleanInterval "0";',
    "",
  ].join("\n"),
  "20auto-upgrades":
    'APT::Periodic::Update-Package-Lists "1";\nAPT::Periodic::Unattended-Upgrade "1";\n',
  // Makes apt download a further index of each repository.
  "50command-not-found":
    'Acquire::IndexTargets {\n    deb::CNF  {\n        MetaKey "$(COMPONENT)/cnf/Commands-$(NATIVE_ARCHITECTURE)";\n        ShortDescription "Commands-$(NATIVE_ARCHITECTURE)";\n    };\n};\n',
  "50unattended-upgrades": `Unattended-Upgrade::Allowed-Origins ${list(upgradedOrigins)}Unattended-Upgrade::Package-Blacklist ${list([])}Unattended-Upgrade::DevRelease "auto";\n`,
};

/**
 * Returns the package sources below /etc/apt. They have the one-line format in 22.04, and the
 * deb822 format in 24.04 and 26.04.
 */
export const packageSources = (codename: string): Readonly<Record<string, string>> => {
  const archive = "http://archive.ubuntu.com/ubuntu/";
  const security = "http://security.ubuntu.com/ubuntu";
  if (codename === "jammy")
    return {
      "sources.list": [
        ...[`deb ${archive} jammy main restricted`, `deb ${archive} jammy-updates main restricted`],
        ...[`deb ${security} jammy-security main restricted`, ""],
      ].join("\n"),
    };
  const paragraph = (uri: string, suites: string): string =>
    [
      ...["Types: deb", `URIs: ${uri}`, `Suites: ${suites}`],
      "Components: main universe restricted multiverse",
      "Signed-By: /usr/share/keyrings/ubuntu-archive-keyring.gpg",
      "",
    ].join("\n");
  return {
    "sources.list": "# Ubuntu sources have moved to /etc/apt/sources.list.d/ubuntu.sources\n",
    "sources.list.d/ubuntu.sources": [
      paragraph(archive, `${codename} ${codename}-updates ${codename}-backports`),
      paragraph(security, `${codename}-security`),
    ].join("\n"),
  };
};

/**
 * Services that /etc/needrestart/needrestart.conf excludes in Ubuntu 26.04 but not in Debian 12.
 */
export const needrestartExclusions: readonly string[] = [
  String.raw`^google-(shutdown|startup)-scripts\.service$`,
  String.raw`^glusterd\.service$`,
  String.raw`^keepalived\.service$`,
  String.raw`^cloud-(init-local|init|config|final)\.service$`,
  "^systemd-nspawn",
];

/**
 * Returns the settings in /etc/ssh/sshd_config after the first line. The first line includes the
 * files of sshd_config.d.
 */
export const sshdSettings = (version: string): readonly string[] => [
  // The version of cloud-init in 22.04 wrote this line into the file.
  ...(version === "22.04" ? ["PasswordAuthentication no"] : []),
  ...["KbdInteractiveAuthentication no", "UsePAM yes", "X11Forwarding yes", "PrintMotd no"],
  ...["AcceptEnv LANG LC_*", "Subsystem\tsftp\t/usr/lib/openssh/sftp-server"],
];

/** Files of /etc/ssh/sshd_config.d by name. */
export const sshdParts = (version: string): Readonly<Record<string, string>> =>
  version === "22.04" ? {} : { "60-cloudimg-settings.conf": "PasswordAuthentication no\n" };
