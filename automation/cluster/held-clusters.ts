import { z } from "zod";
import { isSameCluster } from "./kubeconfig-file.js";
import { exportSchema, pulumi, type StateAccess, type StateExport } from "./state.js";

/** A cluster of the stack that has a provider for its objects. */
export interface HeldCluster {
  /** The name of its component. */
  readonly name: string;
  /** The provider's URN. */
  readonly provider: string;
  readonly kubeconfig: string;
}

/** The provider that a `Cluster` makes (components/addons/addons.ts); another one leads to somebody else's cluster. */
const provided =
  /stackadm:index:Cluster\$stackadm:addons:Addons\$pulumi:providers:kubernetes::(.*)-addons-provider$/;

function kubeconfigIn(value: unknown): string | undefined {
  const secret = z.looseObject({ plaintext: z.string() }).safeParse(value);
  // A secret is exported as {plaintext: "<JSON of the value>"}.
  if (secret.success) return z.string().parse(JSON.parse(secret.data.plaintext));
  return typeof value === "string" ? value : undefined;
}

/** URNs of the providers that the stack's clusters made. */
export const providersOf = ({ deployment }: StateExport): Set<string> =>
  new Set((deployment.resources ?? []).map(({ urn }) => urn).filter((urn) => provided.test(urn)));

interface Led {
  readonly urn: string;
  readonly kubeconfig: string;
}

/** Every provider for a Kubernetes cluster that says to which one. */
async function readLed(access: StateAccess): Promise<Led[]> {
  const { stdout } = await pulumi(access, ["stack", "export", "--show-secrets"]);
  const { deployment } = exportSchema.parse(JSON.parse(stdout));
  return (deployment.resources ?? [])
    .filter(({ type }) => type === "pulumi:providers:kubernetes")
    .flatMap(({ urn, inputs }) => {
      const kubeconfig = kubeconfigIn(inputs?.["kubeconfig"]);
      return kubeconfig === undefined ? [] : [{ urn, kubeconfig }];
    });
}

/** The stack's clusters, also before the first `up` came to its end. */
export async function readClusters(access: StateAccess): Promise<HeldCluster[]> {
  return (await readLed(access)).flatMap(({ urn, kubeconfig }) => {
    const name = provided.exec(urn)?.[1];
    return name === undefined ? [] : [{ name, provider: urn, kubeconfig }];
  });
}

/** URNs of all providers that lead to the stack's clusters, or to those that have one of these: those that it made, and the program's own. */
export async function readProviders(access: StateAccess, ones?: Set<string>): Promise<string[]> {
  const all = await readLed(access);
  const clusters = all.filter(({ urn }) => provided.test(urn) && (ones?.has(urn) ?? true));
  return all
    .filter((one) => clusters.some((of) => of === one || isSameCluster(of, one)))
    .map(({ urn }) => urn);
}
