import { parse } from "yaml";
import { deriveSshKey } from "../../../components/identity/derived-ssh-keys.js";
import { renderUserData } from "../../../components/machine/user-data.js";

/**
 * Returns the files that cloud-init writes into a folder (for example `etc/apt/apt.conf.d`) at the
 * first boot, as a map from a file name to its content.
 */
export function firstBootFiles(folder: string): Readonly<Record<string, string>> {
  const login = { user: "ubuntu", publicKey: "ssh-ed25519 AAAALOGIN" };
  const hostKey = deriveSshKey(Buffer.alloc(32, 1).toString("base64"), "test");
  const { write_files: written } = parse(renderUserData({ machine: "m", login, hostKey })) as {
    write_files: { path: string; content: string }[];
  };
  const inside = written.filter(({ path }) => path.startsWith(`/${folder}/`));
  return Object.fromEntries(
    inside.map(({ path, content }) => [path.slice(folder.length + 2), content]),
  );
}
