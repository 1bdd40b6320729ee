import {
  openstackPluginVersions,
  type PulumiOpenstackVersion,
} from "../../base/versions/pulumi-openstack-versions.js";
import { validateClusterSpec } from "../../components/config/validate-cluster-spec.js";
import { parseClusterSpec, type ClusterSpec } from "../../components/config/cluster-spec.js";
import {
  isPlainObject,
  mergeDefaults,
  choosePublicKey,
} from "../../components/schema/merge-defaults.js";
import { findPlainTextSecrets } from "../../components/config/plain-text-secrets.js";
import type { FrozenValuesByPath } from "../../components/config/immutable-fields.js";
import { withRecordedDefaults } from "../../components/config/recorded-defaults.js";
import { readSiteFile } from "../../components/config/site-file.js";
import type { PinnedFileDirectories } from "../../components/lookup/pinned-files.js";
import { Failure } from "../../base/failures/failure.js";
import { parseYaml } from "../../base/yaml.js";

export interface SpecSources {
  readonly project: string;
  readonly stack: string;
  /** Text of the stack's settings file. */
  readonly settings: string;
  /** Path of the file with the site's defaults (STACKADM_SITE). Absent: there are no defaults. */
  readonly siteFile?: string;
  /**
   * Public keys in the SSH agent. If the settings name no login key, one of these keys becomes the
   * login key.
   */
  readonly agentKeys?: readonly string[];
  /**
   * Directories that contain the files which the settings name. Absent: the files are not checked.
   */
  readonly files?: PinnedFileDirectories;
  /**
   * Returns the frozen values in the state of the cluster with this name. Absent: the state is not
   * known, and settings that are not written have this release's defaults.
   */
  readonly recorded?: (cluster: string) => FrozenValuesByPath | undefined;
}

type SettingsSource = Pick<SpecSources, "project" | "settings">;

const configIn = (text: string): Readonly<Record<string, unknown>> => {
  const settings = parseYaml(text);
  const config = isPlainObject(settings) ? settings["config"] : undefined;
  return isPlainObject(config) ? config : {};
};

const writtenIn = ({ project, settings }: SettingsSource): unknown =>
  configIn(settings)[`${project}:cluster`];

const otherClusters = ({ settings }: Pick<SettingsSource, "settings">): string[] =>
  Object.keys(configIn(settings)).filter((key) => key.endsWith(":cluster"));

/**
 * Returns whether the settings describe a cluster. False for a custom program that defines its
 * cluster in code.
 */
export const describesCluster = (sources: SettingsSource): boolean =>
  writtenIn(sources) !== undefined;

/**
 * Returns the cluster's name and whether it is protected, even if other settings are invalid. Any
 * value of `protect` other than false protects the cluster.
 */
export function readNameAndProtection(
  sources: Pick<SpecSources, "project" | "settings" | "stack">,
): Pick<ClusterSpec, "name" | "protect"> {
  const written = writtenIn(sources);
  const { name, protect = false } = isPlainObject(written) ? written : {};
  return { name: typeof name === "string" ? name : sources.stack, protect: protect !== false };
}

/**
 * Returns the version of the OpenStack plugin that the settings or the site select. Returns
 * undefined if they select no version, or a version that is not supported.
 */
export function readOpenstackPluginVersion({
  settings,
  siteFile,
}: Pick<SpecSources, "settings" | "siteFile">): PulumiOpenstackVersion | undefined {
  const read = readSiteFile(siteFile);
  const config = configIn(settings);
  const clusters: unknown[] = otherClusters({ settings }).map((key) => config[key]);
  const [chosen] = [...clusters, "site" in read && read.site].flatMap((one) =>
    isPlainObject(one) ? (one["openstackPlugin"] ?? []) : [],
  );
  return openstackPluginVersions.find((version) => version === chosen);
}

/**
 * Returns the cluster that the stack's settings describe: the same specification that the program
 * gets. Throws one error that lists all problems.
 */
export function readClusterSpec(sources: SpecSources): ClusterSpec {
  const read = readSiteFile(sources.siteFile);
  if ("problem" in read) throw invalid("The environment", [read.problem]);
  const publicKey = choosePublicKey(sources.agentKeys ?? []);
  const defaults = { name: sources.stack, ssh: publicKey === undefined ? {} : { publicKey } };
  const given = mergeDefaults(mergeDefaults(defaults, read.site), writtenIn(sources) ?? {});
  const args = withRecordedDefaults(given, sources.recorded?.(readNameAndProtection(sources).name));
  const { files } = sources;
  const result = files === undefined ? parseClusterSpec(args) : validateClusterSpec(args, files);
  const file = `Pulumi.${sources.stack}.yaml`;
  if ("problems" in result)
    throw invalid(file, [...findWrongProjectKey(sources), ...result.problems]);
  const open = findPlainTextSecrets(result.spec, sources.project);
  if (open.length > 0) throw invalid(file, open);
  return result.spec;
}

/**
 * Returns a problem if the settings were copied from another project. The key of the cluster
 * contains the name of the project: `<project>:cluster`.
 */
function findWrongProjectKey({ project, settings }: SettingsSource): Problems {
  const [other] = otherClusters({ settings });
  if (describesCluster({ project, settings }) || other === undefined) return [];
  const message = `is missing; the project is called ${project}, so write it instead of ${other}`;
  return [{ path: `${project}:cluster`, message }];
}

type Problems = readonly { readonly path: string; readonly message: string }[];

const invalid = (where: string, problems: Problems): Failure =>
  new Failure(
    "INVALID_CONFIG",
    `${where} is not valid:\n${problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n")}`,
    "Correct it and run the same command again; nothing was changed.",
  );
