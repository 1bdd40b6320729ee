import { z } from "zod";
import type { CloudClient } from "../../../cloud/client.js";
import { listAll } from "../../../cloud/listing.js";

const made = z.object({ id: z.string() });

/** What the lab's operator offers of Octavia to choose from. The lab's provider has nothing to choose: they differ by name alone. */
export class OctaviaOffer {
  readonly #made: string[] = [];

  constructor(private readonly operator: CloudClient) {}

  async #make(collection: string, kind: string, fields: object): Promise<string> {
    const path = `/lbaas/${collection}`;
    const answer = await this.operator.request("load-balancer", "POST", path, { [kind]: fields });
    // A zone has no ID but its name.
    const { id } = made.catch({ id: "" }).parse((answer as Record<string, unknown>)[kind]);
    this.#made.unshift(`${path}/${id || (fields as { name: string }).name}`);
    return id;
  }

  /** A flavor of that name; answers its ID. */
  async flavor(name: string): Promise<string> {
    const profile = { name, provider_name: "amphora", flavor_data: "{}" };
    const id = await this.#make("flavorprofiles", "flavorprofile", profile);
    return this.#make("flavors", "flavor", { name, flavor_profile_id: id, enabled: true });
  }

  /** An availability zone of that name, which is all that it is known by. */
  async zone(name: string): Promise<string> {
    const profile = { name, provider_name: "amphora", availability_zone_data: "{}" };
    const kind = "availability_zone";
    const id = await this.#make("availabilityzoneprofiles", `${kind}_profile`, profile);
    const zone = { name, availability_zone_profile_id: id, enabled: true };
    await this.#make("availabilityzones", kind, zone);
    return name;
  }

  /** Takes all of it away, once nothing uses it. */
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

/** The load balancers of a project, with what was chosen for each. */
export const balancersOf = (cloud: CloudClient): Promise<z.output<typeof balancers.schema>[]> =>
  listAll(cloud, "load-balancer", "/lbaas/loadbalancers", balancers);
