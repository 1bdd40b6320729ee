import type { SshRoute, SshTarget } from "../../cloud/ssh.js";

/* The way to a machine, as the metadata of its server keeps it: nothing in it is secret. */

/** The metadata of a server that never answered: how that was tried. */
export const wayMark = "stackadm-way";

/** Nova takes no longer value. */
const longest = 255;
/** All host keys are of this kind. */
const kind = "ssh-ed25519";
const via = " via ";

const hopText = ({ user, host, port = 22, hostKey }: SshTarget): string =>
  [user, host, String(port), hostKey.split(" ")[1] ?? ""].join(" ");

/** The way as text; undefined where it does not fit. */
export function wayText({ proxy, ...target }: SshRoute): string | undefined {
  const text = [target, ...(proxy ? [proxy] : [])].map(hopText).join(via);
  return text.length > longest ? undefined : text;
}

function hopIn(text: string): SshTarget | undefined {
  const [, user, host, port, key] = /^(\S+) (\S+) (\d+) ([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  return user === undefined || host === undefined || key === undefined
    ? undefined
    : { user, host, port: Number(port), hostKey: `${kind} ${key}` };
}

/** {@link wayText} read back; undefined for any other text. */
export function wayIn(text: string): SshRoute | undefined {
  const [target, proxy, ...others] = text.split(via).map(hopIn);
  if (!target || others.length > 0) return undefined;
  if (!text.includes(via)) return target;
  return proxy && { ...target, proxy };
}
