import * as pulumi from "@pulumi/pulumi";
import { checkArguments, rememberSpec } from "./check-arguments.js";
import { requiredLookups } from "./cloud-requirements.js";
import type { ClusterComponentArgs } from "./cluster-arguments.js";
import type { ClusterArgs, ClusterSpec } from "./config/cluster-spec.js";
import { withRecordedDefaults } from "./config/recorded-defaults.js";
import { withSiteDefaults } from "./config/site-defaults.js";
import { requireServiceUser } from "./identity/check-service-user-login.js";
import { readRecordedValues } from "./lifecycle/immutable-values.js";
import { listAgentKeys } from "./lookup/agent-keys.js";
import { lookUpCloud } from "./lookup/cloud-lookup.js";
import { localContextOf, type LocalContext } from "./lookup/local-context.js";
import { getPinnedFileDirectories } from "./lookup/pinned-files.js";
import { createConfigError } from "./pulumi/errors.js";
import { choosePublicKey, isPlainObject, mergeDefaults } from "./schema/merge-defaults.js";

/** Arguments of {@link prepare}: those of {@link Cluster}, without a need to write the login key. */
export type PrepareArgs = Omit<ClusterArgs, "ssh"> &
  Pick<ClusterComponentArgs, "transforms"> & { readonly ssh?: Partial<ClusterArgs["ssh"]> };

/** Options of {@link prepare}. */
export interface PrepareOptions {
  /**
   * Environment variables: the file with the site's defaults (`STACKADM_SITE`), the ssh-agent, the
   * cloud's login and the directory for downloads.
   * @default process.env
   */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * OpenStack provider for the look-ups and for all resources of the cluster. A change of its
   * project or region creates another cluster and deletes the existing one.
   * @default the stack's default provider: its settings `openstack:*`, or else the environment
   */
  readonly provider?: pulumi.ProviderResource;
  /**
   * Access to the cloud and to local files. The cloud's login must be for the project of the
   * provider.
   * @default the access that `env` describes
   */
  readonly operator?: LocalContext;
  /** Subject of error messages, such as the file with the arguments. @default The specification */
  readonly where?: string;
}

/** Returns the name in the arguments. An invalid name gives an empty text. */
const nameIn = (args: unknown): string =>
  isPlainObject(args) && typeof args["name"] === "string" ? args["name"] : "";

/**
 * Returns the arguments with the login key `ssh.publicKey`. If the user wrote none, takes a key
 * from the ssh-agent.
 */
function withLoginKey(args: unknown, env: NodeJS.ProcessEnv): unknown {
  const written =
    isPlainObject(args) && isPlainObject(args["ssh"]) ? args["ssh"]["publicKey"] : undefined;
  const publicKey = written ?? choosePublicKey(listAgentKeys(env));
  return mergeDefaults({ ssh: publicKey === undefined ? {} : { publicKey } }, args);
}

/**
 * Returns the specification: the arguments, completed by the site's defaults, by the recorded
 * defaults of an existing cluster and by a login key from the ssh-agent. The default name is the
 * name of the stack. Throws one error with all problems.
 */
export async function completeArguments(
  args: unknown,
  { env = process.env, where = "The specification", operator }: PrepareOptions = {},
): Promise<ClusterSpec> {
  const stack = pulumi.getStack();
  const recorded = await readRecordedValues(nameIn(args) || stack);
  const files = operator?.files ?? getPinnedFileDirectories(env);
  const result = checkArguments(args, files, (placed) => {
    const given = mergeDefaults({ name: stack }, withSiteDefaults(placed, env));
    return withLoginKey(withRecordedDefaults(given, recorded), env);
  });
  if ("problems" in result) throw createConfigError(where, result.problems);
  return result.spec;
}

/**
 * Looks up everything that a checked specification names, and tests its login for the controllers.
 * Returns the arguments of the component.
 */
export async function prepareSpec(
  spec: ClusterSpec,
  { env = process.env, provider, operator = localContextOf(env), where }: PrepareOptions = {},
): Promise<ClusterComponentArgs> {
  const asking = lookUpCloud(requiredLookups(spec), { ...(provider && { provider }) }, operator);
  await requireServiceUser(spec, asking, operator, where);
  const cloud = await asking;
  return rememberSpec({ ...spec, cloud, operator, ...(provider && { provider }) }, spec);
}

/**
 * Returns the arguments of {@link Cluster}, with everything that the component cannot take from the
 * environment. Call it before `new Cluster`, and pass the result on unchanged. It
 *
 * - adds the site's defaults, and a login key from the ssh-agent if the arguments have none;
 * - keeps the versions of an existing cluster that the arguments do not name;
 * - looks up all named objects, so that a wrong name stops the program before anything is created;
 * - signs in with the login that the arguments give to the cluster's controllers;
 * - gives the component access to Nova, so that machines that never answered are replaced, and only
 *   the machines of an earlier generation are replaced one after another;
 * - caches downloaded manifests.
 *
 * @example
 * const cluster = new Cluster("dev", await prepare({ image: "debian-12", ... }));
 */
export async function prepare(
  { transforms, ...args }: PrepareArgs,
  options: PrepareOptions = {},
): Promise<ClusterComponentArgs> {
  const spec = await completeArguments(args, options);
  const prepared = await prepareSpec(spec, options);
  return transforms ? rememberSpec({ ...prepared, transforms }, spec) : prepared;
}
