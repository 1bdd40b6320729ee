import { z } from "zod";
import { CloudError } from "../http/cloud-error.js";
import type { CloudClient } from "../client/cloud-client.js";
import { checkExpiry, selectCredentialRoles } from "./cluster-credential-check.js";
import type { Credential } from "../auth/credential.js";
import { createProblem, createWarning, type Finding } from "./finding.js";
import { isAdministrator, checkControllerRoles, defaultDomain } from "./service-user-check.js";
import { utcTimeSchema } from "../auth/token-schema.js";

/**
 * Returns the login with an application credential. The login needs no project, because an
 * application credential belongs to one project.
 */
export const buildApplicationCredential = (id: string, secret: string): Credential => ({
  kind: "application",
  id,
  secret,
  // The login uses the domain only if the application credential is given by name.
  userDomain: { name: defaultDomain },
});

/** Properties of an application credential after a successful login. */
export interface TriedCredential extends Pick<CloudClient, "projectId" | "roles" | "restricted"> {
  /**
   * Expiry as ISO 8601. Undefined: the credential never expires, or Keystone does not show the
   * expiry.
   */
  readonly end: string | undefined;
}

type Signed = Pick<CloudClient, "projectId" | "roles" | "restricted" | "userId" | "glance">;

/**
 * Returns whether Keystone refused the credential. If the ID does not exist, Keystone returns 404.
 */
const isRefused = (error: unknown): boolean =>
  error instanceof CloudError && (error.kind === "unauthenticated" || error.kind === "not-found");

/**
 * Signs in with the credential and reads its expiry. Returns undefined if Keystone refuses the
 * credential.
 *
 * @param connect signs in with the credential
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

const shownSchema = z.object({ application_credential: z.object({ expires_at: utcTimeSchema }) });

/**
 * Time limit in milliseconds for the request for the expiry. The limit is short, because the expiry
 * is optional information.
 */
const expiryTimeout = 5_000;

/**
 * Returns the expiry of the credential. Returns undefined if the request fails, because access
 * rules or the cloud's policy may forbid the request even for a valid credential.
 */
async function endOf(signed: Signed, id: string): Promise<string | undefined> {
  const path = `/users/${signed.userId}/application_credentials/${encodeURIComponent(id)}`;
  try {
    const found = shownSchema.safeParse(await signed.glance("identity", path, expiryTimeout));
    return found.data?.application_credential.expires_at;
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
}

export interface SuppliedCredential {
  readonly id: string;
  /** Expiry in the settings. */
  readonly expiresAt?: string | undefined;
  readonly projectId: string;
  /** Roles of the operator, who runs this program, in the project. */
  readonly roles: readonly string[];
  /**
   * Path of the setting that names a TLS certificate in Barbican. Undefined: no certificate is
   * used.
   */
  readonly certificate?: string | undefined;
  /** Current time in milliseconds. @default Date.now() */
  readonly now?: number;
}

const shown = ({ id }: SuppliedCredential): string =>
  `credential.id: the application credential ${id}`;

/**
 * Returns the advice to create a new credential, with the command. The command contains the roles
 * that the program would give to its own application credential.
 */
function remedyFor({ roles, certificate }: SuppliedCredential): string {
  const wanted = selectCredentialRoles(roles, { certificate });
  const options = (wanted.length > 0 ? wanted : ["<role>"]).map((role) => `--role ${role}`);
  return `create one with \`openstack application credential create ${options.join(" ")} <name>\`, and write its ID and secret to credential.id and credential.secret`;
}

/** Warns about rights of the credential that the controllers do not need. */
function excessFindings(
  { roles, restricted }: TriedCredential,
  supplied: SuppliedCredential,
): Finding[] {
  const [who, reader] = [shown(supplied), "every reader of the cluster's Secret cloud-config"];
  return [
    ...(isAdministrator(roles) ? [`${who} has the role admin, and so has ${reader}`] : []),
    ...(restricted === false
      ? [`${who} is unrestricted: ${reader} can create other credentials, which outlive it`]
      : []),
  ].map((text) => createWarning(`${text}; ${remedyFor(supplied)}`));
}

/**
 * Reports that the credential has expired or expires soon. Reports nothing if the settings contain
 * the same expiry, because another check reports that expiry.
 */
function endFindings({ end }: TriedCredential, { expiresAt, now }: SuppliedCredential): Finding[] {
  if (end !== undefined && Date.parse(end) === Date.parse(expiresAt ?? "")) return [];
  const remedy = "write a new credential.id and credential.secret";
  return checkExpiry("credential.id", end, { remedy, now });
}

/**
 * Reports what prevents the cluster's controllers from using the credential.
 *
 * @param tried properties of the credential. Undefined: Keystone refuses the credential
 */
export function checkSuppliedCredential(
  tried: TriedCredential | undefined,
  supplied: SuppliedCredential,
): Finding[] {
  const { projectId } = supplied;
  const [who, remedy] = [shown(supplied), remedyFor(supplied)];
  if (!tried)
    return [
      createProblem(
        `${who} cannot sign in: it does not exist, credential.secret is wrong, it has expired, or its user is disabled or has lost a role; ${remedy}`,
      ),
    ];
  if (tried.projectId !== projectId)
    return [
      createProblem(
        `${who} belongs to project ${tried.projectId}, but the cluster is created in project ${projectId}; sign in to that project, and ${remedy}`,
      ),
    ];
  return [
    ...endFindings(tried, supplied),
    ...checkControllerRoles(tried.roles, { ...supplied, who, remedy }),
    ...excessFindings(tried, supplied),
  ];
}
