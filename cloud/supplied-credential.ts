/** What of an application credential that is supplied for a cluster's controllers can be told before anything is made. */
import { z } from "zod";
import { CloudError } from "./cloud-error.js";
import type { CloudClient } from "./client.js";
import { endingFindings, rolesOf } from "./cluster-credential.js";
import type { Credential } from "./credential.js";
import { problem, warning, type Finding } from "./finding.js";
import { isAdministrator, roleFindings, usualDomain } from "./service-user.js";
import { utcMoment } from "./token.js";

/** With what its holder signs in: it has a project of its own. */
export const credentialWith = (id: string, secret: string): Credential => ({
  ...{ kind: "application", id, secret },
  // Keystone asks for the domain of a user's name only.
  userDomain: { name: usualDomain },
});

/** What it turned out to be. */
export interface TriedCredential extends Pick<CloudClient, "projectId" | "roles" | "restricted"> {
  /** When it ends, as ISO 8601. Undefined: never, or Keystone does not show it. */
  readonly end: string | undefined;
}

type Signed = Pick<CloudClient, "projectId" | "roles" | "restricted" | "userId" | "glance">;

/** Keystone looks for the ID before it compares the secret, and says of one that it does not have that it is not there. */
const isRefused = (error: unknown): boolean =>
  error instanceof CloudError && (error.kind === "unauthenticated" || error.kind === "not-found");

/**
 * Signs in with it, and asks when it ends: two questions. Undefined where Keystone refuses it.
 *
 * @param connect signs in with it
 */
export async function tryCredential(
  connect: () => Promise<Signed>,
  id: string,
): Promise<TriedCredential | undefined> {
  let signed: Signed;
  try {
    signed = await connect();
  } catch (error) {
    if (isRefused(error)) return undefined;
    throw error;
  }
  const { projectId, roles, restricted } = signed;
  return { projectId, roles, restricted, end: await endOf(signed, id) };
}

const shownSchema = z.object({ application_credential: z.object({ expires_at: utcMoment }) });

/** Milliseconds for what one can do without. */
const patience = 5_000;

/** Nothing where it may not be read, as access rules or the cloud's own policy have it: that is no reason to refuse the credential. */
async function endOf(signed: Signed, id: string): Promise<string | undefined> {
  const path = `/users/${signed.userId}/application_credentials/${encodeURIComponent(id)}`;
  try {
    const found = shownSchema.safeParse(await signed.glance("identity", path, patience));
    return found.data?.application_credential.expires_at;
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
}

export interface SuppliedCredential {
  readonly id: string;
  /** When it ends, as the settings say. */
  readonly expiresAt?: string | undefined;
  /** The project in which the cluster is made. */
  readonly projectId: string;
  /** The roles that the operator has there. */
  readonly roles: readonly string[];
  /** Where a certificate in Barbican is named. Undefined: nowhere. */
  readonly certificate?: string | undefined;
  /** Milliseconds. @default the clock's */
  readonly now?: number;
}

const shown = ({ id }: SuppliedCredential): string =>
  `credential.id: the application credential ${id}`;

/** The command that makes one with the roles that the program would give its own. */
function remedyFor({ roles, certificate }: SuppliedCredential): string {
  const wanted = rolesOf(roles, { certificate });
  const options = (wanted.length > 0 ? wanted : ["<role>"]).map((role) => `--role ${role}`);
  return `make one with \`openstack application credential create ${options.join(" ")} <name>\`, and write its ID and secret to credential.id and credential.secret`;
}

/** That it may do more than the controllers need. */
function excessFindings(
  { roles, restricted }: TriedCredential,
  supplied: SuppliedCredential,
): Finding[] {
  const [who, reader] = [shown(supplied), "whoever reads the cluster's Secret cloud-config"];
  return [
    ...(isAdministrator(roles) ? [`${who} has the role admin, and with it ${reader}`] : []),
    ...(restricted === false
      ? [`${who} is unrestricted: ${reader} can make others, which stay when it is deleted`]
      : []),
  ].map((text) => warning(`${text}; ${remedyFor(supplied)}`));
}

/** That it ends soon. Where the settings say the same, it is spoken of as theirs. */
function endFindings({ end }: TriedCredential, { expiresAt, now }: SuppliedCredential): Finding[] {
  if (end !== undefined && Date.parse(end) === Date.parse(expiresAt ?? "")) return [];
  const remedy = "write another credential.id and credential.secret";
  return endingFindings("credential.id", end, { remedy, now });
}

/**
 * What stands in the way of the cluster's controllers working with it.
 *
 * @param tried what it turned out to be. Undefined: Keystone refuses it
 */
export function suppliedFindings(
  tried: TriedCredential | undefined,
  supplied: SuppliedCredential,
): Finding[] {
  const { projectId } = supplied;
  const [who, remedy] = [shown(supplied), remedyFor(supplied)];
  if (!tried)
    return [
      problem(
        `${who} cannot sign in: there is none, credential.secret is not its secret, it has ended, or its user is disabled or has lost a role; ${remedy}`,
      ),
    ];
  if (tried.projectId !== projectId)
    return [
      problem(
        `${who} is of project ${tried.projectId}, and the cluster is made in project ${projectId}; sign in there, and ${remedy}`,
      ),
    ];
  return [
    ...endFindings(tried, supplied),
    ...roleFindings(tried.roles, { ...supplied, who, remedy }),
    ...excessFindings(tried, supplied),
  ];
}
