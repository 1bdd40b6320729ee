import type { CloudClient } from "../../../../openstack/client/cloud-client.js";

interface Named {
  readonly id: string;
}

/** Creates, reads and deletes Neutron objects of a test that do not belong to a cluster. */
export class NeutronObjects {
  constructor(private readonly cloud: CloudClient) {}

  async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    return (await this.cloud.request("network", method, path, body)) as Answer;
  }

  /** Creates an object. `kind` is the key of the body, for example `network`. */
  async create<Made extends Named = Named>(
    path: string,
    kind: string,
    fields: object,
  ): Promise<Made> {
    const answer = await this.ask<Readonly<Record<string, Made>>>("POST", path, { [kind]: fields });
    const [made] = Object.values(answer);
    if (!made) throw new Error(`${path} answered nothing`);
    return made;
  }

  /** Returns the ID of the external network that the lab's clusters use. */
  async external(): Promise<string> {
    const { networks } = await this.ask<{ networks: Named[] }>("GET", "/networks?name=public");
    return networks[0]?.id ?? "";
  }

  /** Returns the objects as Neutron describes them, without fields that change with every use. */
  async state(paths: readonly string[], changing: RegExp): Promise<unknown> {
    const now = await Promise.all(paths.map((path) => this.ask("GET", path)));
    return JSON.parse(
      JSON.stringify(now, (key, value: unknown) => (changing.test(key) ? null : value)),
    ) as unknown;
  }

  /** Deletes the objects in reverse order. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of [...paths].reverse()) await this.ask("DELETE", path);
  }
}
