/** What of a user whom the cluster's controllers sign in as can be told before anything is made. */
import { CloudError } from "./cloud-error.js";
import type { CloudClient } from "./client.js";
import { endingFindings, rolesOf } from "./cluster-credential.js";
import type { Credential } from "./credential.js";
import { problem, warning, type Finding } from "./finding.js";

/** A user of the cloud by their ID, or by a name and the name of its domain. */
export interface ServiceUser {
  readonly username?: string | undefined;
  /** @default "Default" */
  readonly userDomainName?: string | undefined;
  readonly userId?: string | undefined;
}

/** The domain that Keystone comes with. */
export const usualDomain = "Default";

/** With what they sign in to a project. */
export const credentialOfUser = (
  { username, userDomainName = usualDomain, userId }: ServiceUser,
  { password, projectId }: { readonly password: string; readonly projectId: string },
): Credential => {
  // Keystone asks for the domain of a user's name only.
  const userDomain = { name: userDomainName };
  const scope = { projectId, projectDomain: userDomain };
  return { kind: "password", username, userId, userDomain, password, scope };
};

export interface Trial {
  readonly user: ServiceUser;
  readonly projectId: string;
  /** The roles that the operator has there. */
  readonly roles: readonly string[];
  /** Where a certificate in Barbican is named. Undefined: nowhere. */
  readonly certificate?: string | undefined;
  /** Milliseconds. @default the clock's */
  readonly now?: number;
}

const shown = ({ username = "", userDomainName = usualDomain, userId }: ServiceUser): string =>
  userId === undefined
    ? `credential.username: the user '${username}' of the domain '${userDomainName}'`
    : `credential.userId: the user ${userId}`;

const holderIn = ({ user, ...trial }: Trial): Holder => ({
  ...{ ...trial, who: shown(user) },
  remedy: `have the cloud's operator add it with \`openstack role add --project ${trial.projectId} --user <user> <role>\``,
});

/** Keystone answers the same to all of these. */
const refused = ({ user, projectId }: Trial): Finding =>
  problem(
    `${shown(user)} cannot sign in to project ${projectId}: there is none, the password is another one or has ended, or the user is disabled, locked or without a role there; correct credential.password or have the user put right`,
  );

/** Whether one may do everything, by the name that Keystone comes with. */
export const isAdministrator = (held: readonly string[]): boolean =>
  held.some((role) => role.toLowerCase() === "admin");

/** Who signs in as the cluster's controllers, for sentences. */
interface Holder extends Pick<Trial, "projectId" | "roles" | "certificate"> {
  /** Where the settings name them, and who it is. */
  readonly who: string;
  /** What to do about a role that is not there. */
  readonly remedy: string;
}

/** With nothing but this nobody makes anything. What a role of the cloud's own allows only the cloud knows. */
const onlyReads = (role: string): boolean => role.toLowerCase() === "reader";

/** What they lack of what a credential that the program makes would have. An administrator may do everything. */
export function roleFindings(
  held: readonly string[],
  { who, remedy, projectId, roles, certificate }: Holder,
): Finding[] {
  const has = new Set(held.map((role) => role.toLowerCase()));
  const lacking = rolesOf(roles, { certificate }).filter((role) => !has.has(role.toLowerCase()));
  if (lacking.length === 0 || isAdministrator(held)) return [];
  const lacks = `${who} does not have ${lacking.join(", ")} in project ${projectId}`;
  return [
    held.every(onlyReads)
      ? problem(`${lacks}, only ${held.join(", ")}; ${remedy}`)
      : warning(
          `${lacks}: the cluster's controllers cannot do what the cloud allows for it only; ${remedy}`,
        ),
  ];
}

/**
 * What stands in the way of the cluster's controllers signing in as the user.
 *
 * @param connect signs in as the user
 */
export async function userFindings(
  connect: () => Promise<Pick<CloudClient, "roles" | "passwordEnd">>,
  trial: Trial,
): Promise<Finding[]> {
  try {
    const { roles, passwordEnd } = await connect();
    const remedy = "have another one, and write it to credential.password";
    const ending = endingFindings("credential.password", passwordEnd, { remedy, now: trial.now });
    return [...ending, ...roleFindings(roles, holderIn(trial))];
  } catch (error) {
    if (error instanceof CloudError && error.kind === "unauthenticated") return [refused(trial)];
    throw error;
  }
}
