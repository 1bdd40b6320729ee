import { z } from "zod";
import { isSameCluster } from "./local-cluster-files.js";
import {
  stateExportSchema,
  runPulumi,
  type StateAccess,
  type StateExport,
} from "../pulumi/stack-state.js";

/**
 * Cluster that the stack's Kubernetes provider manages. Set only if the component `Cluster` created
 * that provider.
 */
export interface ClusterInState {
  /** Name of the Pulumi component `Cluster`. */
  readonly name: string;
  /** URN of the Kubernetes provider. */
  readonly provider: string;
  readonly kubeconfig: string;
}

/**
 * Matches the URN of the provider that a `Cluster` creates (components/addons/addons.ts). Other
 * Kubernetes providers of the program do not match, because they may connect to other clusters.
 */
const clusterProvider =
  /stackadm:index:Cluster\$stackadm:addons:Addons\$pulumi:providers:kubernetes::(.*)-addons-provider$/;

function kubeconfigIn(value: unknown): string | undefined {
  const secret = z.looseObject({ plaintext: z.string() }).safeParse(value);
  // The export contains a secret as {plaintext: "<JSON of the value>"}.
  if (secret.success) return z.string().parse(JSON.parse(secret.data.plaintext));
  return typeof value === "string" ? value : undefined;
}

/** Returns the URNs of the providers that the stack's clusters created. */
export const findClusterProviderUrns = ({ deployment }: StateExport): Set<string> =>
  new Set(
    (deployment.resources ?? []).map(({ urn }) => urn).filter((urn) => clusterProvider.test(urn)),
  );

interface KubernetesProvider {
  readonly urn: string;
  readonly kubeconfig: string;
}

/** Returns all Kubernetes providers in the state that have a kubeconfig. */
async function readKubernetesProviders(access: StateAccess): Promise<KubernetesProvider[]> {
  const { stdout } = await runPulumi(access, ["stack", "export", "--show-secrets"]);
  const { deployment } = stateExportSchema.parse(JSON.parse(stdout));
  return (deployment.resources ?? [])
    .filter(({ type }) => type === "pulumi:providers:kubernetes")
    .flatMap(({ urn, inputs }) => {
      const kubeconfig = kubeconfigIn(inputs?.["kubeconfig"]);
      return kubeconfig === undefined ? [] : [{ urn, kubeconfig }];
    });
}

/** Returns the clusters in the state, even if the first `up` has not finished. */
export async function readClustersInState(access: StateAccess): Promise<ClusterInState[]> {
  return (await readKubernetesProviders(access)).flatMap(({ urn, kubeconfig }) => {
    const name = clusterProvider.exec(urn)?.[1];
    return name === undefined ? [] : [{ name, provider: urn, kubeconfig }];
  });
}

/**
 * Returns the URNs of all Kubernetes providers that connect to the stack's clusters, including
 * providers of the user's program.
 *
 * @param ones URNs of the providers that the selected clusters created. Default: all clusters
 */
export async function readConnectedProviderUrns(
  access: StateAccess,
  ones?: Set<string>,
): Promise<string[]> {
  const all = await readKubernetesProviders(access);
  const clusters = all.filter(({ urn }) => clusterProvider.test(urn) && (ones?.has(urn) ?? true));
  return all
    .filter((one) => clusters.some((of) => of === one || isSameCluster(of, one)))
    .map(({ urn }) => urn);
}
