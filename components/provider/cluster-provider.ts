import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../cluster.js";
import { jsonSchema } from "../config/json-schema.js";
import { prepare, type PrepareArgs } from "../prepare.js";
import { clusterType } from "../pulumi/cluster-type.js";
import { createConfigError, type ArgumentProblem, type ProgramError } from "../pulumi/errors.js";
import { clusterOutputsSchema, type ClusterOutputName } from "./output-schema.js";
import { getPackageSchema } from "./package-schema.js";
import { readPlainInputs } from "./plain-inputs.js";

/** Provider that creates a `Cluster` for a program in another language than TypeScript. */
export class ClusterProvider implements pulumi.provider.Provider {
  constructor(
    readonly version: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  getSchema = (): Promise<string> =>
    Promise.resolve(JSON.stringify(getPackageSchema(this.version)));

  construct = async (
    name: string,
    type: string,
    inputs: pulumi.Inputs,
    options: pulumi.ComponentResourceOptions,
  ): Promise<pulumi.provider.ConstructResult> => {
    if (type !== clusterType) throw new TypeError(`stackadm has no resource ${type}`);
    const { args, problems } = await readPlainInputs(inputs, jsonSchema());
    const where = `The cluster ${name}`;
    if (problems.length > 0) throw createInputError(where, problems);
    const provider = findOpenstackProvider(options.providers);
    const named = { name, ...args } as PrepareArgs;
    const prepared = await prepare(named, { env: this.env, where, ...(provider && { provider }) });
    const cluster = new Cluster(name, prepared, options);
    return { urn: cluster.urn, state: getOutputs(cluster) };
  };
}

const getOutputs = (cluster: Cluster): pulumi.Inputs =>
  Object.fromEntries(
    Object.keys(clusterOutputsSchema.shape).map((key) => [key, cluster[key as ClusterOutputName]]),
  );

const findOpenstackProvider = (
  providers: pulumi.ComponentResourceOptions["providers"],
): pulumi.ProviderResource | undefined =>
  Array.isArray(providers) ? undefined : providers?.["openstack"];

/**
 * Returns the error for arguments that are no plain values. It lists all problems. It is no
 * `InputPropertiesError`, because the engine prints the value of each property of such an error,
 * also if the value is a secret.
 */
const createInputError = (where: string, problems: readonly ArgumentProblem[]): ProgramError =>
  createConfigError(
    where,
    problems.map(({ path, message }) => ({ path: `cluster.${path}`, message })),
  );

/**
 * Serves the provider to the engine until the engine ends this process.
 *
 * @param args arguments with which the engine started this process
 */
export const serveProvider = (
  version: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> => pulumi.provider.main(new ClusterProvider(version, env), [...args]);
