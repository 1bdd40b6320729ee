import type * as pulumi from "@pulumi/pulumi";
import { requiredLookups } from "../cloud-requirements.js";
import type { ClusterComponentArgs } from "../cluster.js";
import { withRecordedDefaults } from "../config/recorded-defaults.js";
import { withSiteDefaults } from "../config/site-defaults.js";
import { validateClusterSpec } from "../config/validate-cluster-spec.js";
import { requireServiceUser } from "../identity/check-service-user-login.js";
import { readRecordedValues } from "../lifecycle/immutable-values.js";
import { lookUpCloud } from "../lookup/cloud-lookup.js";
import { localContextOf } from "../lookup/local-context.js";
import type { ArgumentProblem } from "../pulumi/errors.js";

/** Environment of the engine, and the provider that the program passes. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** Provider of OpenStack. @default the engine's default provider */
  readonly provider?: pulumi.ProviderResource | undefined;
}

/**
 * Returns the arguments of a cluster with everything that depends on the environment, as the program
 * of `pulumi up` does: the site's defaults, the facts about the cloud, and the user's access. Throws
 * if the cloud lacks an object or refuses the login of the controllers.
 *
 * @param name name of the component
 */
export async function prepareArguments(
  name: string,
  written: Readonly<Record<string, unknown>>,
  { env, provider }: Surroundings,
): Promise<ClusterComponentArgs | { readonly problems: readonly ArgumentProblem[] }> {
  const given = { name, ...withSiteDefaults(written, env) };
  const args = withRecordedDefaults(given, await readRecordedValues(name));
  const operator = localContextOf(env);
  const result = validateClusterSpec(args, operator.files);
  if ("problems" in result) return result;
  const { spec } = result;
  const asking = lookUpCloud(requiredLookups(spec), provider ? { provider } : {}, operator);
  await requireServiceUser(spec, asking, operator);
  return { ...spec, cloud: await asking, operator };
}
