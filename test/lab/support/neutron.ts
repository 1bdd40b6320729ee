import type { CloudClient } from "../../../cloud/client.js";

interface Named {
  readonly id: string;
}

/** Makes, shows and removes what a test has in Neutron beside a cluster. */
export class NeutronObjects {
  constructor(private readonly cloud: CloudClient) {}

  async ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    return (await this.cloud.request("network", method, path, body)) as Answer;
  }

  /** `kind` is the key of the body, like `network`. */
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

  /** ID of the external network that the lab's clusters use. */
  async external(): Promise<string> {
    const { networks } = await this.ask<{ networks: Named[] }>("GET", "/networks?name=public");
    return networks[0]?.id ?? "";
  }

  /** What Neutron says of objects, without the fields that every use of them changes. */
  async state(paths: readonly string[], changing: RegExp): Promise<unknown> {
    const now = await Promise.all(paths.map((path) => this.ask("GET", path)));
    return JSON.parse(
      JSON.stringify(now, (key, value: unknown) => (changing.test(key) ? null : value)),
    ) as unknown;
  }

  /** The last one first. */
  async remove(paths: readonly string[]): Promise<void> {
    for (const path of [...paths].reverse()) await this.ask("DELETE", path);
  }
}
