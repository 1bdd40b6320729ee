import { z } from "zod";
import { getExpiryWarning } from "../../openstack/checks/cluster-credential-check.js";
import type { StateExport } from "../pulumi/stack-state.js";
import { isClusterCredential } from "../pulumi/retained-objects.js";

const moment = z.string().refine((text) => Number.isFinite(Date.parse(text)));

export interface CredentialExpiryOptions {
  readonly stack: string;
  /**
   * Expiry of the credential that the user has written into the settings. Undefined if the settings
   * contain no existing credential.
   */
  readonly supplied?: string | undefined;
  /** Current time in milliseconds. @default the clock's time */
  readonly now?: number;
}

/**
 * Returns warnings if the credential of the cluster's controllers has expired, or expires within 30
 * days. Otherwise empty.
 */
export function findCredentialWarnings(
  { deployment }: StateExport,
  { stack, supplied, now }: CredentialExpiryOptions,
): string[] {
  const own = (deployment.resources ?? []).filter(isClusterCredential);
  const ends = own.flatMap(({ inputs, outputs }) => {
    const end = moment.safeParse(outputs?.["expiresAt"] ?? inputs?.["expiresAt"]);
    return end.success ? [end.data] : [];
  });
  const command = `run \`stackadm up --stack ${stack}\``;
  const warn = (end: string, what: string): string[] => {
    const ending = getExpiryWarning(end, now);
    return ending === undefined ? [] : [`${ending}; ${what}, and ${command}`];
  };
  if (own.length === 0 && supplied !== undefined)
    return warn(
      supplied,
      "write a new `credential.id` and `credential.secret`, with its `expiresAt`",
    );
  return ends.flatMap((end) =>
    warn(
      end,
      "write a later `credential.expiresAt`, or raise `credential.generation` if none is written",
    ),
  );
}
