import type { SshRoute, SshTarget } from "../../base/ssh-client.js";

/*
 * SSH route to a machine as text, for the metadata of the machine's server. The text contains no
 * secret.
 */

/** Metadata key of the SSH route that failed for a server that never answered. */
export const routeMetadataKey = "stackadm-way";

/** Largest length of a metadata value in Nova. */
const longest = 255;
/** Type of all host keys. */
const kind = "ssh-ed25519";
const via = " via ";

const hopText = ({ user, host, port = 22, hostKey }: SshTarget): string =>
  [user, host, String(port), hostKey.split(" ")[1] ?? ""].join(" ");

/** Returns the route as text. Returns undefined if the text is too long for metadata. */
export function routeText({ proxy, ...target }: SshRoute): string | undefined {
  const text = [target, ...(proxy ? [proxy] : [])].map(hopText).join(via);
  return text.length > longest ? undefined : text;
}

function hopIn(text: string): SshTarget | undefined {
  const [, user, host, port, key] = /^(\S+) (\S+) (\d+) ([A-Za-z0-9+/=]+)$/.exec(text) ?? [];
  return user === undefined || host === undefined || key === undefined
    ? undefined
    : { user, host, port: Number(port), hostKey: `${kind} ${key}` };
}

/** Returns the route in a text from {@link routeText}. Returns undefined for any other text. */
export function parseRoute(text: string): SshRoute | undefined {
  const [target, proxy, ...others] = text.split(via).map(hopIn);
  if (!target || others.length > 0) return undefined;
  if (!text.includes(via)) return target;
  return proxy && { ...target, proxy };
}
