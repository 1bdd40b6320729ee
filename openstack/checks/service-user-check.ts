import { CloudError } from "../http/cloud-error.js";
import type { CloudClient } from "../client/cloud-client.js";
import { checkExpiry, selectCredentialRoles } from "./cluster-credential-check.js";
import type { Credential } from "../auth/credential.js";
import { createProblem, createWarning, type Finding } from "./finding.js";

/** OpenStack user, given by an ID, or by a name and a domain name. */
export interface ServiceUser {
  readonly username?: string | undefined;
  /** Name of the user's domain. @default "Default" */
  readonly userDomainName?: string | undefined;
  readonly userId?: string | undefined;
}

/** Name of Keystone's default domain. */
export const defaultDomain = "Default";

/** Returns the credential with which the user signs in to a project. */
export const buildUserCredential = (
  { username, userDomainName = defaultDomain, userId }: ServiceUser,
  { password, projectId }: { readonly password: string; readonly projectId: string },
): Credential => {
  // The login uses the domain only if the user is given by name.
  const userDomain = { name: userDomainName };
  const scope = { projectId, projectDomain: userDomain };
  return { kind: "password", username, userId, userDomain, password, scope };
};

export interface ServiceUserCheckOptions {
  readonly user: ServiceUser;
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

const shown = ({ username = "", userDomainName = defaultDomain, userId }: ServiceUser): string =>
  userId === undefined
    ? `credential.username: the user '${username}' of the domain '${userDomainName}'`
    : `credential.userId: the user ${userId}`;

const holderIn = ({ user, ...trial }: ServiceUserCheckOptions): Holder => ({
  ...trial,
  who: shown(user),
  remedy: `ask the cloud's operator to add it with \`openstack role add --project ${trial.projectId} --user <user> <role>\``,
});

/**
 * Returns the problem of a refused login. The message lists all possible causes, because Keystone
 * does not report the cause.
 */
const refused = ({ user, projectId }: ServiceUserCheckOptions): Finding =>
  createProblem(
    `${shown(user)} cannot sign in to project ${projectId}: the user does not exist, the password is wrong or expired, or the user is disabled, locked or without a role in the project; correct credential.password or ask the cloud's operator to correct the user`,
  );

/** Returns whether the roles include Keystone's predefined administrator role. */
export const isAdministrator = (roles: readonly string[]): boolean =>
  roles.some((role) => role.toLowerCase() === "admin");

/** Login of the cluster's controllers: a user or an application credential. */
interface Holder extends Pick<ServiceUserCheckOptions, "projectId" | "roles" | "certificate"> {
  /** Subject for messages: path of the setting, and the user or the application credential. */
  readonly who: string;
  /** Advice for messages about a missing role. */
  readonly remedy: string;
}

/**
 * Returns whether the role is known to allow only reading. The rights of other roles depend on the
 * cloud.
 */
const onlyReads = (role: string): boolean => role.toLowerCase() === "reader";

/**
 * Reports missing roles of the controllers' login. The expected roles are the roles that the
 * program would give to its own application credential. Reports nothing for administrators.
 */
export function checkControllerRoles(
  userRoles: readonly string[],
  { who, remedy, projectId, roles, certificate }: Holder,
): Finding[] {
  const has = new Set(userRoles.map((role) => role.toLowerCase()));
  const lacking = selectCredentialRoles(roles, { certificate }).filter(
    (role) => !has.has(role.toLowerCase()),
  );
  if (lacking.length === 0 || isAdministrator(userRoles)) return [];
  const lacks = `${who} does not have ${lacking.join(", ")} in project ${projectId}`;
  return [
    userRoles.every(onlyReads)
      ? createProblem(`${lacks}, only ${userRoles.join(", ")}; ${remedy}`)
      : createWarning(
          `${lacks}: the cluster's controllers cannot do what the cloud allows with this role only; ${remedy}`,
        ),
  ];
}

/**
 * Reports what prevents the cluster's controllers from signing in as the user.
 *
 * @param connect signs in as the user
 */
export async function checkServiceUser(
  connect: () => Promise<Pick<CloudClient, "roles" | "passwordEnd">>,
  trial: ServiceUserCheckOptions,
): Promise<Finding[]> {
  try {
    const { roles, passwordEnd } = await connect();
    const remedy = "get a new password, and write it to credential.password";
    const ending = checkExpiry("credential.password", passwordEnd, { remedy, now: trial.now });
    return [...ending, ...checkControllerRoles(roles, holderIn(trial))];
  } catch (error) {
    if (error instanceof CloudError && error.kind === "unauthenticated") return [refused(trial)];
    throw error;
  }
}
