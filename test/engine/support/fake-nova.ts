import { fakeProject, type FakeCloud } from "../../support/cloud/fake-openstack.js";

interface Server {
  readonly id: string;
  readonly name: string;
  readonly metadata: object;
}

const mac = "fa:16:3e:00:00:01";
const address = "10.0.0.5";

/** Fake Nova and Neutron with one server and one port, for the OpenStack provider. */
export class FakeNova {
  status = "ACTIVE";
  /** IDs of all servers that were created, the current one last. */
  readonly made: string[] = [];
  private server?: Server;

  constructor(private readonly cloud: FakeCloud) {
    this.answerPorts();
    this.answerServers();
  }

  /**
   * Returns the requests after request `since` that change objects, for example `POST
   * /compute/servers`.
   */
  changes(since: number): string[] {
    return this.cloud.seen
      .slice(since)
      .filter(({ method, path }) => method !== "GET" && !path.startsWith("/identity"))
      .map(({ method, path }) => `${method} ${path}`);
  }

  private answerPorts(): void {
    const path = "/network/v2.0/ports";
    const given = { id: "port", status: "ACTIVE", mac_address: mac, device_id: "", tags: [] };
    let port: object = { ...given, network_id: "network" };
    this.cloud.on(`POST ${path}`, ({ body }) => {
      const fixed_ips = [{ subnet_id: "subnet", ip_address: address }];
      port = { ...port, ...(body as { port: object }).port, fixed_ips };
      return { status: 201, body: { port } };
    });
    this.cloud.on(`GET ${path}`, () => ({ body: { ports: [port] } }));
    this.cloud.on(`GET ${path}/port`, () => ({ body: { port } }));
    this.cloud.on(`PUT ${path}/port/tags`, ({ body }) => {
      port = { ...port, ...(body as object) };
      return { body };
    });
    const network = { id: "network", name: "dev", status: "ACTIVE", subnets: [] };
    this.cloud.on("GET /network/v2.0/networks", { body: { networks: [network] } });
  }

  private answerServers(): void {
    const { cloud } = this;
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers: this.shown() } }));
    cloud.on("GET /compute/flavors/flavor", { body: { flavor: { id: "flavor", name: "f" } } });
    cloud.on("GET /image/v2/images/image", { body: { id: "image", name: "i" } });
    cloud.on("POST /compute/servers", ({ body }) => {
      const { server: asked } = body as { server: Server };
      const id = `5ee5a1c4-0000-4000-8000-00000000000${String(this.made.length)}`;
      const path = `/compute/servers/${id}`;
      this.server = { id, name: asked.name, metadata: asked.metadata };
      this.status = "ACTIVE";
      this.made.push(id);
      cloud.on(`GET ${path}`, () => ({ body: { server: this.shown()[0] } }));
      cloud.on(`GET ${path}/tags`, { body: { tags: [] } });
      const remove = (status: number) => {
        cloud.on(`GET ${path}`, { status: 404 });
        return { status };
      };
      cloud.on(`DELETE ${path}`, () => remove(204));
      cloud.on(`POST ${path}/action`, ({ body: action }) =>
        "forceDelete" in (action as object) ? remove(202) : { status: 400 },
      );
      return { status: 202, body: { server: { id } } };
    });
  }

  private shown(): object[] {
    const at = "2026-01-01T00:00:00Z";
    const shown = {
      ...this.server,
      status: this.status,
      tenant_id: fakeProject,
      created: at,
      updated: at,
      flavor: { id: "flavor" },
      image: { id: "image" },
      security_groups: [],
      addresses: { dev: [{ addr: address, version: 4, "OS-EXT-IPS-MAC:mac_addr": mac }] },
    };
    return this.server ? [shown] : [];
  }
}
