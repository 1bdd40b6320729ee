import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../cluster.js";
import { jsonSchema } from "../config/json-schema.js";
import { clusterType } from "../pulumi/cluster-type.js";
import { createConfigError, type ArgumentProblem, type ProgramError } from "../pulumi/errors.js";
import { clusterOutputsSchema, type ClusterOutputName } from "./output-schema.js";
import { getPackageSchema } from "./package-schema.js";
import { readPlainInputs } from "./plain-inputs.js";
import { prepareArguments } from "./prepare-arguments.js";

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
    if (problems.length > 0) throw createInputError(name, problems);
    const provider = findOpenstackProvider(options.providers);
    const prepared = await prepareArguments(name, args, { env: this.env, provider });
    if ("problems" in prepared) throw createInputError(name, prepared.problems);
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
 * Returns the error for invalid arguments. The error lists all problems. It is no
 * `InputPropertiesError`, because the engine prints the value of each property of such an error,
 * also if the value is a secret.
 */
const createInputError = (name: string, problems: readonly ArgumentProblem[]): ProgramError =>
  createConfigError(
    `The cluster ${name}`,
    problems.map(({ path, message }) => ({ path: path.replace(/^cluster\./, ""), message })),
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
