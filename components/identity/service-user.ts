import * as pulumi from "@pulumi/pulumi";
import { CloudError } from "../../cloud/cloud-error.js";
import type { Finding } from "../../cloud/finding.js";
import { credentialOfUser, userFindings } from "../../cloud/service-user.js";
import {
  credentialWith,
  suppliedFindings,
  tryCredential,
} from "../../cloud/supplied-credential.js";
import { certificateIn } from "../spec/certificates.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import type { CloudFacts } from "../support/catalog.js";
import { ConfigError, ProgramError, type Problem } from "../support/errors.js";
import { isAsBefore } from "../support/known-facts.js";
import type { Operator } from "../support/operator.js";

type Spec = Pick<ClusterSpec, "credential" | "loadBalancer" | "sampleServices">;

/** Where the cluster is made, and as what the operator works there. */
type Place = Pick<CloudFacts, "scope">;

/** Tries what is supplied, in a project that may still be asked for. */
type Attempt = (place: Promise<Place>) => Promise<Finding[]>;

/** Undefined where nothing is supplied, or its secret is known only later. */
function attemptOf(
  spec: Spec,
  connectWith: NonNullable<Operator["connectWith"]>,
): Attempt | undefined {
  const { id, secret, expiresAt, password, ...user } = spec.credential ?? {};
  const certificate = certificateIn(spec);
  if (id !== undefined && typeof secret === "string")
    return async (place) => {
      const connect = () => connectWith(credentialWith(id, secret));
      const [tried, { scope }] = await Promise.all([tryCredential(connect, id), place]);
      return suppliedFindings(tried, { ...scope, id, expiresAt, certificate });
    };
  if (typeof password !== "string") return undefined;
  return async (place) => {
    const { projectId, roles } = (await place).scope;
    const connect = () => connectWith(credentialOfUser(user, { password, projectId }));
    return userFindings(connect, { user, projectId, roles, certificate });
  };
}

/**
 * Signs in as whom the settings name, a user or the holder of an application credential, before anything is made: who cannot, has no role
 * for it or is of another project is refused with a sentence, in a preview too. Only the program has password and secret: wherever else the
 * settings are read, they are encrypted. Nobody is tried where nothing is supplied, where the secret is known only later, and where all is
 * as it was when it went well.
 *
 * @param cloud what was found there, or is being looked up: an application credential is tried meanwhile
 * @param where whose settings these are, for the sentence
 */
export async function requireServiceUser(
  spec: Spec,
  cloud: Place | Promise<Place>,
  { connectWith }: Operator,
  where = "The specification",
): Promise<void> {
  const attempt = connectWith && !isAsBefore() ? attemptOf(spec, connectWith) : undefined;
  const findings = (await attempt?.(Promise.resolve(cloud)).catch(asItIs)) ?? [];
  const of = (kind: string): string[] =>
    findings.flatMap(({ severity, text }) => (severity === kind ? [text] : []));
  for (const text of of("warning")) await pulumi.log.warn(text);
  const problems = of("problem").map(problemIn);
  if (problems.length > 0) throw new ConfigError(where, problems);
}

/** What the cloud says passes through the engine as what it is. */
const asItIs = (error: unknown): never => {
  throw error instanceof CloudError ? new ProgramError(error.code, error.sentence) : error;
};

const problemIn = (text: string): Problem => {
  const [path = "", ...message] = text.split(": ");
  return { path: `cluster.${path}`, message: message.join(": ") };
};
