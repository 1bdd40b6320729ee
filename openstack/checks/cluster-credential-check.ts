import { CloudError } from "../http/cloud-error.js";
import type { CloudClient } from "../client/cloud-client.js";
import { createProblem, createWarning, type Finding } from "./finding.js";
import type { ClusterRequirements } from "./cluster-requirements.js";

/**
 * Roles that cloud controller manager and Cinder CSI need. A cloud defines at least one of these
 * names.
 */
const controllerRoles = ["member", "_member_", "load-balancer_member"];

/**
 * Additional roles, for load balancers with a TLS certificate in Barbican. In some clouds, a member
 * may not give Octavia access to a certificate.
 */
const certificateRoles = ["creator"];

type RoleNeeds = Pick<ClusterRequirements, "credentialRoles" | "certificate">;

/**
 * Returns the roles of the cluster's application credential. If the settings contain no roles,
 * returns the user's roles that the controllers need. Returns an empty list if the user has no such
 * role.
 */
export function selectCredentialRoles(
  userRoles: readonly string[],
  { credentialRoles, certificate }: RoleNeeds = {},
): readonly string[] {
  const wanted =
    certificate === undefined ? controllerRoles : [...controllerRoles, ...certificateRoles];
  return credentialRoles ?? userRoles.filter((role) => wanted.includes(role.toLowerCase()));
}

/**
 * Returns the text for a user without a role that the controllers need. The program creates no
 * credential in this case. Keystone would give a credential without roles all roles of the user.
 */
const rolesUnknown = (userRoles: readonly string[]): string =>
  `none of your roles in the project (${userRoles.join(", ")}) is known to be enough for the cluster's controllers, and they do not get all of them; write the roles that the controllers need`;

const day = 86_400_000;

/**
 * Returns a sentence if the credential has expired or expires within 30 days. Otherwise returns
 * undefined.
 *
 * @param what noun for the sentence, if another object than the credential expires
 */
export function getExpiryWarning(
  end: string,
  now = Date.now(),
  what = "credential",
): string | undefined {
  const left = Date.parse(end) - now;
  if (left > 30 * day) return undefined;
  const when =
    left <= 0 ? `ended at ${end}` : `ends at ${end}, in ${String(Math.floor(left / day))} days`;
  return `the ${what} of the cluster's controllers ${when}: without it, the cluster can create neither load balancers nor volumes`;
}

/**
 * Reports the expiry that `getExpiryWarning` describes, with a remedy. Reports a problem after the
 * expiry, and a warning before.
 */
export function checkExpiry(
  path: string,
  end: string | undefined,
  {
    remedy,
    now = Date.now(),
    what,
  }: {
    readonly remedy: string;
    readonly now?: number | undefined;
    /** Noun for the object that expires. @default "credential" */
    readonly what?: string;
  },
): Finding[] {
  const ending = end === undefined ? undefined : getExpiryWarning(end, now, what);
  if (end === undefined || ending === undefined) return [];
  return [
    Date.parse(end) <= now
      ? createProblem(`${path}: ${ending}; ${remedy}`)
      : createWarning(`${path}: ${ending}; ${remedy} and run up before it ends`),
  ];
}

export interface CredentialFacts {
  /**
   * Whether the user's application credential is restricted. A restricted credential cannot create
   * other application credentials. Undefined: the user did not sign in with an application
   * credential.
   */
  readonly restricted: boolean | undefined;
  readonly roles: readonly string[];
}

/**
 * Reports what prevents the creation of the cluster's credential. Also reports an expiry in the
 * settings that has passed or is near.
 *
 * @param exists whether the cluster already has a credential. If true, checks only the expiry
 */
export function checkClusterCredential(
  { restricted, roles: userRoles }: CredentialFacts,
  needs: RoleNeeds & Pick<ClusterRequirements, "makesCredential" | "credentialEnd">,
  { exists, now }: { readonly exists: boolean; readonly now?: number },
): Finding[] {
  const { makesCredential, credentialRoles, credentialEnd } = needs;
  const remedy = makesCredential
    ? "write a later time"
    : "write a new credential.id and credential.secret, with its end as credential.expiresAt";
  const findings = checkExpiry("credential.expiresAt", credentialEnd, { remedy, now });
  if (!makesCredential || exists) return findings;
  const missing = (credentialRoles ?? []).filter((role) => !userRoles.includes(role));
  return [
    ...findings,
    ...(restricted
      ? [
          createProblem(
            "credential: your application credential is restricted, so it cannot create one for the cluster; sign in with a password or an unrestricted credential, or create a credential in the dashboard and write its credential.id and credential.secret",
          ),
        ]
      : []),
    ...(selectCredentialRoles(userRoles, needs).length === 0
      ? [createProblem(`credential.roles: ${rolesUnknown(userRoles)}`)]
      : []),
    ...(missing.length > 0
      ? [
          createProblem(
            `credential.roles: you do not have ${missing.join(", ")} in the project, so your credential cannot have it either; write roles out of ${userRoles.join(", ")}`,
          ),
        ]
      : []),
  ];
}

/** Problem for a cloud in which the user cannot create application credentials. */
export const credentialsUnsupportedProblem = createProblem(
  "credential: this cloud's Keystone offers no application credentials, or does not allow you one; write credential.username, credential.userDomainName and credential.password of a user with the roles member and load-balancer_member in the project",
);

/**
 * Returns whether an application credential belongs to another user. Keystone allows only the owner
 * and administrators to read or delete a credential.
 */
export async function isOwnedByAnotherUser(client: CloudClient, id: string): Promise<boolean> {
  const path = `/users/${client.userId}/application_credentials/${encodeURIComponent(id)}`;
  try {
    await client.request("identity", "GET", path);
    return false;
  } catch (error) {
    if (!(error instanceof CloudError)) throw error;
    if (error.kind === "forbidden") return true;
    if (error.kind === "not-found") return false;
    throw error;
  }
}
