import { z } from "zod";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { listAll } from "../../../../openstack/client/paginate.js";

const made = z.object({ id: z.string() });

/**
 * Octavia flavors and availability zones that the lab's operator creates. They differ only in their
 * names, because the lab's provider has no options.
 */
export class OctaviaOffer {
  readonly #made: string[] = [];

  constructor(private readonly operator: CloudClient) {}

  async #make(collection: string, kind: string, fields: object): Promise<string> {
    const path = `/lbaas/${collection}`;
    const answer = await this.operator.request("load-balancer", "POST", path, { [kind]: fields });
    // An availability zone has only a name and no ID.
    const { id } = made.catch({ id: "" }).parse((answer as Record<string, unknown>)[kind]);
    this.#made.unshift(`${path}/${id || (fields as { name: string }).name}`);
    return id;
  }

  /** Creates a flavor. Returns its ID. */
  async flavor(name: string): Promise<string> {
    const profile = { name, provider_name: "amphora", flavor_data: "{}" };
    const id = await this.#make("flavorprofiles", "flavorprofile", profile);
    return this.#make("flavors", "flavor", { name, flavor_profile_id: id, enabled: true });
  }

  /** Creates an availability zone. Returns its name, because it has no ID. */
  async zone(name: string): Promise<string> {
    const profile = { name, provider_name: "amphora", availability_zone_data: "{}" };
    const kind = "availability_zone";
    const id = await this.#make("availabilityzoneprofiles", `${kind}_profile`, profile);
    const zone = { name, availability_zone_profile_id: id, enabled: true };
    await this.#make("availabilityzones", kind, zone);
    return name;
  }

  /** Deletes all flavors and zones. They must be unused. */
  async remove(): Promise<void> {
    for (const path of this.#made.splice(0))
      await this.operator.request("load-balancer", "DELETE", path);
  }
}

const balancers = {
  key: "loadbalancers",
  schema: z.object({
    id: z.string(),
    name: z.string(),
    flavor_id: z.string().nullable(),
    availability_zone: z.string().nullable(),
  }),
};

/** Returns the load balancers of a project, with flavor and zone. */
export const balancersOf = (cloud: CloudClient): Promise<z.output<typeof balancers.schema>[]> =>
  listAll(cloud, "load-balancer", "/lbaas/loadbalancers", balancers);
