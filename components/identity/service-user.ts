import * as pulumi from "@pulumi/pulumi";
import { CloudError } from "../../cloud/cloud-error.js";
import { credentialOfUser, userFindings } from "../../cloud/service-user.js";
import { certificateIn } from "../spec/certificates.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import type { CloudFacts } from "../support/catalog.js";
import { ConfigError, ProgramError, type Problem } from "../support/errors.js";
import { isAsBefore } from "../support/known-facts.js";
import type { Operator } from "../support/operator.js";

type Spec = Pick<ClusterSpec, "credential" | "loadBalancer" | "sampleServices">;

/**
 * Signs in as the user whom the settings name, before anything is made: one who cannot, or has no role for it, is refused with a sentence,
 * in a preview too. Only the program has the password: wherever else the settings are read, it is encrypted. Nobody is tried where there is
 * no user, where the password is known only later, and where all is as it was when it went well.
 *
 * @param where whose settings these are, for the sentence
 */
export async function requireServiceUser(
  spec: Spec,
  { scope: { projectId, roles } }: Pick<CloudFacts, "scope">,
  { connectWith }: Operator,
  where = "The specification",
): Promise<void> {
  const { password, ...user } = spec.credential ?? {};
  if (typeof password !== "string" || !connectWith || isAsBefore()) return;
  const connect = () => connectWith(credentialOfUser(user, { password, projectId }));
  const trial = { user, projectId, roles, certificate: certificateIn(spec) };
  const findings = await userFindings(connect, trial).catch(asItIs);
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
