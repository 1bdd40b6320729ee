import type { FakeCloud } from "./fake-openstack.js";

interface DeletableObject {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
}

/** Name of a collection in Neutron's paths and in Neutron's answers. */
const collections = {
  networks: "networks",
  "security-groups": "security_groups",
} as const;

/** Objects of one collection of the fake cloud's Neutron. A DELETE request removes an object. */
export class DeletableObjects {
  /** Called after each deletion. */
  onDelete: () => void = () => undefined;

  constructor(
    private readonly cloud: FakeCloud,
    private readonly collection: keyof typeof collections,
    private objects: readonly DeletableObject[],
  ) {
    cloud.on(`GET /network/${collection}`, () => ({
      body: { [collections[collection]]: this.objects },
    }));
    this.acceptDeletions();
  }

  /** Returns the IDs of the objects that no request has deleted. */
  get ids(): string[] {
    return this.objects.map(({ id }) => id);
  }

  acceptDeletions(): void {
    for (const id of this.ids)
      this.cloud.on(`DELETE /network/${this.collection}/${id}`, () => {
        this.objects = this.objects.filter((one) => one.id !== id);
        this.onDelete();
        return { status: 204 };
      });
  }

  /** Makes Neutron refuse to delete the objects. */
  refuseDeletions(): void {
    for (const id of this.ids)
      this.cloud.on(`DELETE /network/${this.collection}/${id}`, { status: 403, body: {} });
  }
}
