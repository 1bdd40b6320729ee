import type { SshKey } from "../identity/host-keys.js";
import { beginningOf, partBoundary, partTypes } from "../spec/own-parts.js";
import { secondInterfaceCommand, type SecondInterface } from "./second-interface.js";
import { toYaml } from "../../base/yaml.js";

export interface UserData {
  /** Name of the machine, of the server and of the node: all the same. */
  readonly machine: string;
  /** Who may log in. */
  readonly login: { readonly user: string; readonly publicKey: string };
  /** With which key the machine proves who it is. */
  readonly hostKey: SshKey;
  /** Server that this one replaces because it never came up; makes the data, and so the server, a new one. */
  readonly replaces?: string;
  /** Its interface in the admin network. @default none */
  readonly second?: SecondInterface | undefined;
  /** Parts of the user's own. @default none */
  readonly more?: readonly string[];
}

/** Room for all machines to log in through this one at once; a connection that died is noticed after a minute. */
const sshd = [
  "MaxStartups 200:30:400",
  "MaxSessions 200",
  "ClientAliveInterval 15",
  "ClientAliveCountMax 4",
  "PasswordAuthentication no",
  "",
].join("\n");

/**
 * Bounds in which a boot goes on without the network. From 24.4 on, Ubuntu's cloud-init waits for it at each boot where user data
 * have bootcmd or several parts, without an end where a unit that comes before the network waits for cloud-init
 * (https://github.com/canonical/cloud-init/issues/7052). bootcmd stays: nothing else of cloud-init is early enough for packages that
 * own parts install, and only cloud-init of later Ubuntus has a unit of this name that waits.
 */
const boundedWait = {
  path: "/etc/systemd/system/cloud-init-network.service.d/10-stackadm.conf",
  content: "[Service]\nTimeoutStartSec=300\n",
};

/** cloud-init's configuration of a machine. The host key is the only secret in it. */
export function userData({
  machine,
  login,
  hostKey,
  replaces,
  second,
  more = [],
}: UserData): string {
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
    ...(second && { bootcmd: [secondInterfaceCommand(second)] }),
    write_files: [
      { path: "/etc/ssh/sshd_config.d/10-stackadm.conf", permissions: "0600", content: sshd },
      // unattended-upgrades would hold the package lock while the machine is prepared.
      { path: "/etc/apt/apt.conf.d/99stackadm", content: 'APT::Periodic::Enable "0";\n' },
      ...(second || more.length > 0 ? [boundedWait] : []),
    ],
  };
  const reason = replaces === undefined ? "" : `# replaces ${replaces}\n`;
  const own = `#cloud-config\n${reason}${toYaml(config)}`;
  return more.length === 0 ? own : multipart(own, more);
}

/** Several parts as cloud-init reads them. What is ours comes first, and no other part takes it away. */
function multipart(own: string, more: readonly string[]): string {
  const part = (text: string, ...headers: readonly string[]): string => {
    const type = partTypes[beginningOf(text) ?? "#cloud-config"];
    const head = [`Content-Type: ${type}; charset="utf-8"`, "MIME-Version: 1.0", ...headers];
    return `--${partBoundary}\n${head.join("\n")}\n\n${text.replace(/\n?$/, "\n")}`;
  };
  const merge = "Merge-Type: list(append)+dict(no_replace,recurse_list)+str()";
  return [
    `Content-Type: multipart/mixed; boundary="${partBoundary}"\nMIME-Version: 1.0\n\n`,
    part(own),
    ...more.map((text) => part(text, merge)),
    `--${partBoundary}--\n`,
  ].join("");
}
