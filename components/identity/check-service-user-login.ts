import * as pulumi from "@pulumi/pulumi";
import { CloudError } from "../../openstack/http/cloud-error.js";
import type { Finding } from "../../openstack/checks/finding.js";
import {
  buildUserCredential,
  checkServiceUser,
} from "../../openstack/checks/service-user-check.js";
import {
  buildApplicationCredential,
  checkSuppliedCredential,
  tryCredential,
} from "../../openstack/checks/supplied-credential.js";
import { findBarbicanCertificatePath } from "../config/load-balancing/barbican-certificate-path.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { CloudFacts } from "../lookup/cloud-lookup.js";
import { createConfigError, ProgramError, type ArgumentProblem } from "../pulumi/errors.js";
import type { LocalContext } from "../lookup/local-context.js";

type Spec = Pick<ClusterSpec, "credential" | "loadBalancer" | "sampleServices">;

/** Project of the cluster, and the operator's roles in it. */
type Place = Pick<CloudFacts, "scope">;

/**
 * Function that tests the login in the settings. `project` is a promise, so that the test can start
 * before the project is known.
 */
type Attempt = (project: Promise<Place>) => Promise<Finding[]>;

/**
 * Returns the function that tests the login in the settings. Returns undefined if the settings
 * contain no login, or if the password or secret is not known yet.
 */
function attemptOf(
  spec: Spec,
  connectWith: NonNullable<LocalContext["connectWith"]>,
): Attempt | undefined {
  const { id, secret, expiresAt, password, ...user } = spec.credential ?? {};
  const certificate = findBarbicanCertificatePath(spec);
  if (id !== undefined && typeof secret === "string")
    return async (project) => {
      const connect = () => connectWith(buildApplicationCredential(id, secret));
      const [tried, { scope }] = await Promise.all([tryCredential(connect, id), project]);
      return checkSuppliedCredential(tried, { ...scope, id, expiresAt, certificate });
    };
  if (typeof password !== "string") return undefined;
  return async (project) => {
    const { projectId, roles } = (await project).scope;
    const connect = () => connectWith(buildUserCredential(user, { password, projectId }));
    return checkServiceUser(connect, { user, projectId, roles, certificate });
  };
}

/**
 * Signs in with the user or application credential in the settings. Runs before anything is
 * created, also in a preview. Throws if the login fails, lacks a role or belongs to another
 * project. Only the Pulumi program can test the login, because all other code gets the password or
 * secret only encrypted. Does nothing if the settings contain no login, or if the password or
 * secret is not known yet.
 *
 * @param cloud facts about the cloud. The test of an application credential starts before the facts
 * are known
 * @param where subject of the error message: the settings that contain the login
 */
export async function requireServiceUser(
  spec: Spec,
  cloud: Place | Promise<Place>,
  { connectWith }: LocalContext,
  where = "The specification",
): Promise<void> {
  const attempt = connectWith && attemptOf(spec, connectWith);
  const findings = (await attempt?.(Promise.resolve(cloud)).catch(rethrowAsProgramError)) ?? [];
  const textsOf = (kind: string): string[] =>
    findings.flatMap(({ severity, text }) => (severity === kind ? [text] : []));
  for (const text of textsOf("warning")) await pulumi.log.warn(text);
  const problems = textsOf("problem").map(problemIn);
  if (problems.length > 0) throw createConfigError(where, problems);
}

/**
 * Throws a {@link ProgramError} for a cloud error. The engine keeps the code and the sentence of a
 * ProgramError.
 */
const rethrowAsProgramError = (error: unknown): never => {
  throw error instanceof CloudError ? new ProgramError(error.code, error.sentence) : error;
};

const problemIn = (text: string): ArgumentProblem => {
  const [path = "", ...message] = text.split(": ");
  return { path: `cluster.${path}`, message: message.join(": ") };
};
