import { parse } from "yaml";
import { openstackPlugins, type OpenstackPlugin } from "../../base/openstack-plugins.js";
import { checkClusterSpec } from "../../components/checked-spec.js";
import { parseClusterSpec, type ClusterSpec } from "../../components/spec/cluster-spec.js";
import { isFields, merge, preferredKey } from "../../components/spec/defaults.js";
import { openSecrets } from "../../components/spec/secrets.js";
import { readSite } from "../../components/spec/site.js";
import type { PinnedFiles } from "../../components/support/pinned-file.js";
import { ClusterError } from "./cluster-error.js";

export interface SpecSources {
  readonly project: string;
  readonly stack: string;
  /** Text of the stack's settings file. */
  readonly settings: string;
  /** Path of the site's defaults (STACKADM_SITE). */
  readonly siteFile?: string;
  /** The agent's keys: one of them is the login key when the stack names none. */
  readonly agentKeys?: readonly string[];
  /** Where the files are that the settings name: they are looked at too. Absent: they are not. */
  readonly files?: PinnedFiles;
}

type Written = Pick<SpecSources, "project" | "settings">;

const configIn = (text: string): Readonly<Record<string, unknown>> => {
  const settings = parse(text) as unknown;
  const config = isFields(settings) ? settings["config"] : undefined;
  return isFields(config) ? config : {};
};

const writtenIn = ({ project, settings }: Written): unknown =>
  configIn(settings)[`${project}:cluster`];

const otherClusters = ({ settings }: Pick<Written, "settings">): string[] =>
  Object.keys(configIn(settings)).filter((key) => key.endsWith(":cluster"));

/** Whether the settings say anything of a cluster: those of a program of one's own need not. */
export const describesCluster = (sources: Written): boolean => writtenIn(sources) !== undefined;

/** What even settings that are wrong elsewhere say: whatever else is written for `protect` protects, too. */
export function plainlyWritten(
  sources: Pick<SpecSources, "project" | "settings" | "stack">,
): Pick<ClusterSpec, "name" | "protect"> {
  const written = writtenIn(sources);
  const { name, protect = false } = isFields(written) ? written : {};
  return { name: typeof name === "string" ? name : sources.stack, protect: protect !== false };
}

/** Returns the OpenStack plugin that settings or site choose, if they choose one. What else is wrong in them is said later. */
export function openstackPluginIn({
  settings,
  siteFile,
}: Pick<SpecSources, "settings" | "siteFile">): OpenstackPlugin | undefined {
  const read = readSite(siteFile);
  const config = configIn(settings);
  const written = otherClusters({ settings }).map((key) => config[key]);
  const { openstackPlugin } = [...("site" in read ? [read.site] : []), ...written].reduce<
    Readonly<Record<string, unknown>>
  >((all, one) => (isFields(one) ? { ...all, ...one } : all), {});
  return openstackPlugins.find((version) => version === openstackPlugin);
}

/** The cluster that the stack's settings describe, as the program will see it. All problems in one error. */
export function clusterSpecOf(sources: SpecSources): ClusterSpec {
  const read = readSite(sources.siteFile);
  if ("problem" in read) throw invalid("The environment", [read.problem]);
  const publicKey = preferredKey(sources.agentKeys ?? []);
  const defaults = { name: sources.stack, ssh: publicKey === undefined ? {} : { publicKey } };
  const args = merge(merge(defaults, read.site), writtenIn(sources) ?? {});
  const { files } = sources;
  const result = files === undefined ? parseClusterSpec(args) : checkClusterSpec(args, files);
  const file = `Pulumi.${sources.stack}.yaml`;
  if ("problems" in result) throw invalid(file, [...misnamed(sources), ...result.problems]);
  const open = openSecrets(result.spec, sources.project);
  if (open.length > 0) throw invalid(file, open);
  return result.spec;
}

/** The settings of another project were copied, and what is read here is a key that they do not have. */
function misnamed({ project, settings }: Written): Problems {
  const [other] = otherClusters({ settings });
  if (describesCluster({ project, settings }) || other === undefined) return [];
  const message = `is missing; the project is called ${project}, so write it instead of ${other}`;
  return [{ path: `${project}:cluster`, message }];
}

type Problems = readonly { readonly path: string; readonly message: string }[];

const invalid = (where: string, problems: Problems): ClusterError =>
  new ClusterError(
    "INVALID_CONFIG",
    `${where} is not valid:\n${problems.map(({ path, message }) => `  ${path}: ${message}`).join("\n")}`,
    "Correct it and run the same command again; nothing was changed.",
  );
