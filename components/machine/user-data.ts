import type { SshKey } from "../identity/derived-ssh-keys.js";
import {
  findCloudInitHeader,
  cloudInitPartBoundary,
  cloudInitMimeTypes,
} from "../config/machines/user-scripts.js";
import { renderSecondInterfaceCommand, type SecondInterface } from "./second-interface.js";
import { toYaml } from "../../base/yaml.js";

export interface UserDataArgs {
  /** Name of the machine. The server and the node have the same name. */
  readonly machine: string;
  /** User that logs in by SSH, and the public key of this user. */
  readonly login: { readonly user: string; readonly publicKey: string };
  /** SSH host key of the machine. */
  readonly hostKey: SshKey;
  /**
   * ID of the server that the new server replaces, because it never answered. User data with this
   * ID differ from the old user data, so Pulumi replaces the server.
   */
  readonly replaces?: string;
  /** Settings of the second interface. @default the machine has one interface */
  readonly second?: SecondInterface | undefined;
  /** Further parts for cloud-init from the user. @default none */
  readonly more?: readonly string[];
}

/**
 * Settings of sshd. A machine may be the proxy for logins to all other machines at the same time,
 * so sshd must accept many connections. sshd detects a dead connection after one minute.
 */
const sshd = [
  "MaxStartups 200:30:400",
  "MaxSessions 200",
  "ClientAliveInterval 15",
  "ClientAliveCountMax 4",
  "PasswordAuthentication no",
  "",
].join("\n");

/**
 * Time limit for waiting for the network at each boot. Upstream cloud-init from 24.4 on waits on
 * Ubuntu, if the user data have bootcmd or several parts. The wait never ends if a unit that starts
 * before the network waits for cloud-init (https://github.com/canonical/cloud-init/issues/7052).
 * bootcmd is needed nevertheless: only bootcmd runs before the user's parts install packages.
 *
 * The cloud-init packages of Ubuntu 22.04 and 24.04 do not wait, and have no
 * cloud-init-network.service (patches no-remove-networkd-online and no-single-process of 26.1).
 */
const boundedWait = {
  path: "/etc/systemd/system/cloud-init-network.service.d/10-stackadm.conf",
  content: "[Service]\nTimeoutStartSec=300\n",
};

/** Returns the user data of a machine, with one secret: the host key. */
export function renderUserData({
  machine,
  login,
  hostKey,
  replaces,
  second,
  more = [],
}: UserDataArgs): string {
  const config = {
    hostname: machine,
    prefer_fqdn_over_hostname: false,
    manage_etc_hosts: "localhost",
    ssh_deletekeys: true,
    ssh_keys: { ed25519_private: hostKey.privateKey, ed25519_public: hostKey.publicKey },
    ssh_pwauth: false,
    disable_root: true,
    users: [
      {
        name: login.user,
        lock_passwd: true,
        shell: "/bin/bash",
        sudo: "ALL=(ALL) NOPASSWD:ALL",
        ssh_authorized_keys: [login.publicKey],
      },
    ],
    ...(second && { bootcmd: [renderSecondInterfaceCommand(second)] }),
    write_files: [
      { path: "/etc/ssh/sshd_config.d/10-stackadm.conf", permissions: "0600", content: sshd },
      // While a script prepares the machine, unattended-upgrades would lock the package database.
      { path: "/etc/apt/apt.conf.d/99stackadm", content: 'APT::Periodic::Enable "0";\n' },
      ...(second || more.length > 0 ? [boundedWait] : []),
    ],
  };
  const reason = replaces === undefined ? "" : `# replaces ${replaces}\n`;
  const own = `#cloud-config\n${reason}${toYaml(config)}`;
  return more.length === 0 ? own : multipart(own, more);
}

/**
 * Returns a multipart document. The program's part comes first. Later parts cannot override its
 * values.
 */
function multipart(own: string, more: readonly string[]): string {
  const part = (text: string, ...headers: readonly string[]): string => {
    const type = cloudInitMimeTypes[findCloudInitHeader(text) ?? "#cloud-config"];
    const head = [`Content-Type: ${type}; charset="utf-8"`, "MIME-Version: 1.0", ...headers];
    return `--${cloudInitPartBoundary}\n${head.join("\n")}\n\n${text.replace(/\n?$/, "\n")}`;
  };
  const merge = "Merge-Type: list(append)+dict(no_replace,recurse_list)+str()";
  return [
    `Content-Type: multipart/mixed; boundary="${cloudInitPartBoundary}"\nMIME-Version: 1.0\n\n`,
    part(own),
    ...more.map((text) => part(text, merge)),
    `--${cloudInitPartBoundary}--\n`,
  ].join("");
}
