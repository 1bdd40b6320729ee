import { isEqual } from "./objects/json.js";
import { findActiveCluster, loadKubeconfig } from "./client/kubeconfig.js";
import type { KubeconfigOverrides } from "./client/kubeconfig.js";
import { isUnknown } from "../plugin/values.js";
import type { Json, JsonObject } from "../plugin/values.js";

/** Provider arguments that the stand-in supports. */
export interface ProviderSettings {
  /** Content or path of a kubeconfig. @default $KUBECONFIG or ~/.kube/config */
  readonly kubeconfig?: string;
  readonly overrides: KubeconfigOverrides;
  readonly configMapsMutable: boolean;
  readonly secretsMutable: boolean;
  readonly patchForce: boolean;
  /** Whether to change an object that exists already, instead of failing. @default false */
  readonly upsert: boolean;
  /**
   * Whether to remove resources of an unreachable cluster from the state, instead of failing.
   * @default false
   */
  readonly deleteUnreachable: boolean;
}

type Lookup = (name: string) => string | undefined;

/**
 * Reads the settings from the variables of the gRPC method Configure (`kubernetes:config:<name>`)
 * and from the environment.
 */
export function readProviderSettings(variable: Lookup, environment: Lookup): ProviderSettings {
  const flag = (name: string, environmentName: string): boolean =>
    (variable(name) ?? environment(`PULUMI_K8S_${environmentName}`)) === "true";
  if (variable("enableServerSideApply") === "false") {
    throw new Error("the stand-in for the kubernetes provider only knows server-side apply");
  }
  if (variable("skipUpdateUnreachable") === "true") {
    throw new Error(
      "the stand-in for the kubernetes provider does not skip updates of an unreachable cluster",
    );
  }
  if (variable("renderYamlToDirectory")) {
    throw new Error("the stand-in for the kubernetes provider does not render YAML to a directory");
  }
  const text = (name: string): string | undefined => {
    const value = variable(name);
    return value === "" ? undefined : value;
  };
  return {
    kubeconfig: text("kubeconfig"),
    overrides: {
      context: text("context"),
      cluster: text("cluster"),
      namespace: text("namespace"),
    },
    configMapsMutable: flag("enableConfigMapMutable", "ENABLE_CONFIGMAP_MUTABLE"),
    secretsMutable: flag("enableSecretMutable", "ENABLE_SECRET_MUTABLE"),
    patchForce: flag("enablePatchForce", "ENABLE_PATCH_FORCE"),
    upsert: flag("upsertExistingObjects", "UPSERT_EXISTING_OBJECTS"),
    deleteUnreachable: flag("deleteUnreachable", "DELETE_UNREACHABLE"),
  };
}

export interface ConfigDiff {
  readonly diffs: readonly string[];
  readonly replaces: readonly string[];
}

/** Arguments that select the provider's cluster. */
const clusterKeys = ["kubeconfig", "context", "cluster"];

/**
 * Returns the changes of a provider's arguments, or undefined if there are none. If the provider
 * has another cluster, all its resources are replaced. An equal `clusterIdentifier` means the same
 * cluster. Otherwise, the provider has another cluster if the cluster entry in the kubeconfig
 * changes or is not known yet.
 */
export function diffConfig(olds: JsonObject, news: JsonObject): ConfigDiff | undefined {
  const keys = [...new Set([...Object.keys(olds), ...Object.keys(news)])].sort();
  const diffs = keys.filter((key) => !isEqual(olds[key], news[key]));
  if (diffs.length === 0) return undefined;
  const [before, after] = [olds["clusterIdentifier"], news["clusterIdentifier"]];
  if (after !== undefined && isEqual(before, after)) return { diffs, replaces: [] };
  const replaces: string[] =
    before !== undefined && after !== undefined ? ["clusterIdentifier"] : [];
  const unknown = clusterKeys.find((key) => isUnknown(news[key]));
  if (unknown !== undefined) return { diffs: [unknown], replaces: [...replaces, unknown] };
  if (diffs.includes("renderYamlToDirectory")) replaces.push("renderYamlToDirectory");
  const [oldCluster, newCluster] = [clusterOf(olds), clusterOf(news)];
  if (oldCluster && newCluster && !isEqual(oldCluster, newCluster)) {
    replaces.push(...clusterKeys.filter((key) => diffs.includes(key)));
  }
  return { diffs, replaces };
}

function clusterOf(config: JsonObject): JsonObject | undefined {
  const text = (value: Json | undefined) =>
    typeof value === "string" && value ? value : undefined;
  const kubeconfig = text(config["kubeconfig"]);
  if (kubeconfig === undefined) return undefined;
  return findActiveCluster(loadKubeconfig(kubeconfig).config, {
    context: text(config["context"]),
    cluster: text(config["cluster"]),
  });
}
