import { z } from "zod";
import { takeInventory, type CloudObject } from "../../cloud/inventory.js";
import { holdsData, type Orphan } from "../../cloud/orphans.js";
import { ownershipOf } from "../../cloud/ownership.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import { needsApi } from "./abandon.js";
import { settingsOf } from "./elsewhere.js";
import type { ClaimedVolume, DestroyPlan, DestroyPlanOptions } from "./options.js";
import { protectionOf } from "./protection.js";
import type { Run } from "./run.js";
import { holdsNothing, identitiesOf, ownedIds, readKubeconfig, readState } from "./state.js";
import type { StateExport } from "./state.js";

/** How long the cluster's API may be silent, in milliseconds: without it, the plan knows less. */
const patience = 5_000;

const volumesSchema = z.looseObject({
  items: z.array(
    z.looseObject({
      spec: z.looseObject({
        csi: z.looseObject({ driver: z.string(), volumeHandle: z.string() }).optional(),
        claimRef: z.looseObject({ namespace: z.string(), name: z.string() }).optional(),
        persistentVolumeReclaimPolicy: z.string().optional(),
      }),
    }),
  ),
});

/** What the cluster knows of a volume. */
type Claimed = Pick<ClaimedVolume, "claim" | "fate">;

/** What the cluster knows of its volumes, by their IDs in Cinder. */
type Claims = ReadonlyMap<string, Claimed>;

/** The volumes of Cinder that are PersistentVolumes. Only `Delete` has them deleted (components/kubeadm/scripts/teardown.sh). */
async function askCluster(kubeconfig: string): Promise<Claims> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig), patience);
  const { items } = volumesSchema.parse(await api.get("/api/v1/persistentvolumes"));
  return new Map(
    items.flatMap(({ spec: { csi, claimRef, persistentVolumeReclaimPolicy: policy } }) => {
      if (csi?.driver !== "cinder.csi.openstack.org") return [];
      const claim = claimRef ? `${claimRef.namespace}/${claimRef.name}` : "";
      const claimed: Claimed = { claim, fate: policy === "Delete" ? "goes" : "stays" };
      return [[csi.volumeHandle, claimed] as const];
    }),
  );
}

/** What becomes of a volume that the cluster does not know, and why the cluster could not be asked. */
interface Asked {
  readonly claims: Claims;
  readonly otherwise: Claimed;
  readonly problem?: string;
}

/** Asks the cluster, as far as a destroy would: nobody else has volumes deleted. */
async function claimsOf(run: Run, state: StateExport, abandon: boolean): Promise<Asked> {
  const stays: Asked = { claims: new Map(), otherwise: { claim: "", fate: "stays" } };
  if (abandon || state.deployment.resources?.some(needsApi) !== true) return stays;
  try {
    const kubeconfig = await readKubeconfig(run.access);
    return kubeconfig === undefined ? stays : { ...stays, claims: await askCluster(kubeconfig) };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { claims: new Map(), otherwise: { claim: "", fate: "unknown" }, problem };
  }
}

interface Whose {
  readonly identities: ReadonlySet<string>;
  readonly owned: ReadonlySet<string>;
  readonly asked: Asked;
}

/** What of the project goes, and the volumes of claims apart. */
function sorted(
  inventory: readonly CloudObject[],
  { identities, owned, asked }: Whose,
): Pick<DestroyPlan, "goes" | "volumes"> & { readonly name: string | undefined } {
  const marked = inventory.flatMap((object): Orphan[] => {
    const ownership = ownershipOf(object);
    return ownership && identities.has(ownership.mark.identity)
      ? [{ ...object, ...ownership }]
      : [];
  });
  const data = new Set(marked.filter(holdsData).map(({ id }) => id));
  const volumes = inventory.flatMap(({ kind, id, name, gigabytes }): ClaimedVolume[] => {
    const known = asked.claims.get(id) ?? (data.has(id) ? asked.otherwise : undefined);
    return kind === "volume" && known ? [{ id, name, gigabytes, ...known }] : [];
  });
  const apart = new Set(volumes.map(({ id }) => id));
  const going = new Set([...owned, ...marked.map(({ id }) => id)]);
  const goes = inventory.filter(({ id }) => going.has(id) && !apart.has(id));
  return { goes, volumes, name: marked[0]?.mark.name };
}

/** What a destroy of the stack would take away, and what it would leave. */
export async function planDestroy(
  run: Run,
  { abandon = false }: DestroyPlanOptions,
): Promise<DestroyPlan> {
  const [settings, state, inventory] = await Promise.all([
    settingsOf(run),
    readState(run.access),
    run.cloud().then(takeInventory),
  ]);
  const { backend } = run.service;
  if (state === undefined || holdsNothing(state))
    return { cluster: settings.name, identities: [], backend, held: false, goes: [], volumes: [] };
  const identities = identitiesOf(state);
  const asked = await claimsOf(run, state, abandon);
  const { name = settings.name, ...found } = sorted(inventory, {
    ...{ identities, owned: ownedIds(state), asked },
  });
  const protection = protectionOf(run, settings, state);
  const { problem } = asked;
  return {
    ...{ cluster: name, identities: [...identities], backend, held: true, ...found },
    ...(protection && { protection }),
    ...(problem !== undefined && { problem }),
  };
}
