import { randomBytes, randomUUID } from "node:crypto";
import { parse } from "yaml";
import { z } from "zod";
import {
  fakeProject,
  type FakeAnswer,
  type SeenRequest,
} from "../../../../test/support/cloud/fake-openstack.js";
import type { Fields } from "../../../../test/support/graph/graph.js";

/** Machine that a server of the fake project stands for. */
export interface FakeMachine {
  readonly name: string;
  readonly serverId: string;
  readonly address: string;
  /** Host key of the machine, from its user data (PEM). */
  readonly hostKey: string;
}

/**
 * Addresses at which clients outside the fake network reach the machines and the API's load
 * balancer.
 */
export interface OutsideAddresses {
  readonly machines: string;
  readonly balancer: string;
}

const keysSchema = z.object({ ssh_keys: z.object({ ed25519_private: z.string() }) });

/**
 * Map from the last part of a collection's path to the key of one object in requests and answers.
 */
const collections: Readonly<Record<string, string>> = {
  networks: "network",
  subnets: "subnet",
  routers: "router",
  ports: "port",
  "security-groups": "security_group",
  "security-group-rules": "security_group_rule",
  floatingips: "floatingip",
  servers: "server",
  "os-server-groups": "server_group",
  loadbalancers: "loadbalancer",
  listeners: "listener",
  pools: "pool",
  healthmonitors: "healthmonitor",
  members: "member",
  application_credentials: "application_credential",
};

const list = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as readonly Fields[]) : [];
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/**
 * Returns the address with this number in the range that starts at 10.0.1.1. Numbers start at 0.
 */
const addressAt = (number: number): string =>
  `10.0.${String(1 + Math.floor(number / 250))}.${String(1 + (number % 250))}`;

/**
 * Fake project in which every requested object exists at once: networks, servers, load balancers,
 * credentials, and everything else that the OpenStack provider and the program request. Does not
 * validate the requests. A server is only a record.
 */
export class FakeProject {
  readonly #objects = new Map<string, Map<string, Fields>>();
  readonly #hosts = new Map<string, FakeMachine>();
  #ports = 0;

  /** @param external external network of the floating IPs, as Neutron describes it */
  constructor(
    private readonly outside: OutsideAddresses,
    external: Fields & { readonly id: string },
  ) {
    this.#all("network/networks").set(external.id, { ...ofAll(external.id), ...external });
  }

  /** Returns the machine that has this address in the fake network. */
  hostAt(address: string): FakeMachine | undefined {
    return this.#hosts.get(address);
  }

  /** Machine to which the floating IP leads. */
  get entry(): FakeMachine | undefined {
    const addresses = [...this.#all("network/floatingips").values()];
    const mine = addresses.find((one) => one["floating_ip_address"] === this.outside.machines);
    return this.hostAt(text(mine?.["fixed_ip_address"]));
  }

  /**
   * Returns the answer of an OpenStack service, or undefined if the path does not belong to a known
   * collection.
   */
  answer({ method, path, body }: SeenRequest): FakeAnswer | undefined {
    const { pathname, searchParams } = new URL(path, "http://fake");
    const words = pathname.split("/").filter((word) => word !== "" && !/^v\d[\d.]*$/.test(word));
    const at = words.findLastIndex((word) => word in collections);
    if (at < 0) return undefined;
    const [id = "", ...more] = words.slice(at + 1);
    const collection = words.slice(0, at + 1).join("/");
    const given = (body ?? {}) as Fields;
    if (id === "" || id === "detail")
      return method === "POST"
        ? this.#create(collection, given)
        : this.#list(collection, searchParams);
    return this.#one({ method, collection, id, action: more.join("/"), given });
  }

  #all(collection: string): Map<string, Fields> {
    const known = this.#objects.get(collection) ?? new Map<string, Fields>();
    this.#objects.set(collection, known);
    return known;
  }

  #list(collection: string, query: URLSearchParams): FakeAnswer {
    const asked = [...query].filter(([key]) => key !== "limit" && key !== "fields");
    const found = [...this.#all(collection).values()].filter((one) =>
      asked.every(([key, value]) => !(key in one) || String(one[key]) === value),
    );
    return { body: { [pluralOf(collection)]: query.has("marker") ? [] : found } };
  }

  #create(collection: string, given: Fields): FakeAnswer {
    const key = singularOf(collection);
    const asked = (given[key] ?? {}) as Fields;
    const id = key === "application_credential" ? randomBytes(16).toString("hex") : randomUUID();
    const made = { ...this.#made(key, id, asked), ...ofAll(id) };
    this.#all(collection).set(id, made);
    return {
      status: key === "server" ? 202 : key === "server_group" ? 200 : 201,
      body: { [key]: made },
    };
  }

  #one(call: {
    readonly method: string;
    readonly collection: string;
    readonly id: string;
    readonly action: string;
    readonly given: Fields;
  }): FakeAnswer {
    const { method, collection, id, action, given } = call;
    const found = this.#all(collection).get(id);
    if (!found) return { status: 404 };
    if (action === "tags") return this.#tags(call, found);
    if (action === "add_router_interface") return this.#join(id, text(given["subnet_id"]));
    const isDeleted = method === "DELETE" || (action === "action" && "forceDelete" in given);
    if (action !== "" && !isDeleted) return { body: {} };
    const key = singularOf(collection);
    if (isDeleted) {
      this.#all(collection).delete(id);
      return { status: method === "DELETE" ? 204 : 202 };
    }
    if (method === "PUT") this.#all(collection).set(id, { ...found, ...(given[key] as Fields) });
    return { body: { [key]: this.#all(collection).get(id) } };
  }

  #tags(
    {
      collection,
      id,
      method,
      given,
    }: {
      readonly collection: string;
      readonly id: string;
      readonly method: string;
      readonly given: Fields;
    },
    found: Fields,
  ): FakeAnswer {
    if (method === "PUT") this.#all(collection).set(id, { ...found, tags: given["tags"] });
    return { body: { tags: this.#all(collection).get(id)?.["tags"] ?? [] } };
  }

  /** Adds an interface to a router. The interface is a port of the subnet's network. */
  #join(router: string, subnet: string): FakeAnswer {
    const network_id = this.#all("network/subnets").get(subnet)?.["network_id"];
    const id = randomUUID();
    const port = this.#made("port", id, { network_id, fixed_ips: [{ subnet_id: subnet }] });
    const owner = { device_id: router, device_owner: "network:router_interface" };
    this.#all("network/ports").set(id, { ...port, ...ofAll(id), ...owner });
    return { body: { id: router, subnet_id: subnet, port_id: id, tenant_id: fakeProject } };
  }

  /** Returns the requested object with the fields that the service adds. */
  #made(key: string, id: string, asked: Fields): Fields {
    switch (key) {
      case "network":
        return { mtu: 1450, shared: false, subnets: [], ...asked };
      case "subnet":
        return { enable_dhcp: true, gateway_ip: "10.0.0.1", allocation_pools: [], ...asked };
      case "router":
        return { routes: [], ...asked };
      case "port":
        return this.#port(asked);
      case "security_group":
        return { security_group_rules: [], ...asked };
      case "floatingip":
        return this.#floating(asked);
      case "server":
        return this.#server(id, asked);
      case "server_group":
        return { members: [], metadata: {}, ...asked };
      case "application_credential":
        return { secret: "secret", project_id: fakeProject, expires_at: null, ...asked };
      default:
        return this.#balancing(asked);
    }
  }

  #port(asked: Fields): Fields {
    const address = addressAt(this.#ports++);
    const mac = `fa:16:3e:00:${hex(this.#ports >> 8)}:${hex(this.#ports & 255)}`;
    const fixed_ips = list(asked["fixed_ips"]).map((one) => ({ ip_address: address, ...one }));
    const pairs = list(asked["allowed_address_pairs"]);
    return {
      device_id: "",
      device_owner: "",
      security_groups: [],
      port_security_enabled: true,
      ...asked,
      mac_address: mac,
      fixed_ips,
      allowed_address_pairs: pairs.map((one) => ({ ...one, mac_address: mac })),
    };
  }

  #floating(asked: Fields): Fields {
    const port = this.#all("network/ports").get(text(asked["port_id"]));
    const fixed = text(list(port?.["fixed_ips"])[0]?.["ip_address"]);
    const address = this.#hosts.has(fixed) || !this.#balancerAt(text(asked["port_id"]));
    return {
      router_id: "",
      ...asked,
      fixed_ip_address: fixed,
      floating_ip_address: address ? this.outside.machines : this.outside.balancer,
    };
  }

  /** Returns whether the port belongs to a load balancer, according to its description. */
  #balancerAt(port: string): boolean {
    return text(this.#all("network/ports").get(port)?.["description"]).startsWith("Load balancer");
  }

  #server(id: string, asked: Fields): Fields {
    const ports = list(asked["networks"]).map((one) => text(one["port"]));
    const port = this.#all("network/ports").get(ports[0] ?? "");
    if (port) this.#all("network/ports").set(ports[0] ?? "", { ...port, device_id: id });
    const address = text(list(port?.["fixed_ips"])[0]?.["ip_address"]);
    const name = text(asked["name"]);
    const data = Buffer.from(text(asked["user_data"]), "base64").toString("utf8");
    const { ssh_keys } = keysSchema.parse(parse(data));
    this.#hosts.set(address, { name, serverId: id, address, hostKey: ssh_keys.ed25519_private });
    const network = this.#all("network/networks").get(text(port?.["network_id"]));
    const interfaces = [
      { addr: address, version: 4, "OS-EXT-IPS-MAC:mac_addr": port?.["mac_address"] },
    ];
    return {
      name,
      metadata: asked["metadata"] ?? {},
      status: "ACTIVE",
      user_id: "u",
      flavor: { id: asked["flavorRef"] },
      image: { id: asked["imageRef"] },
      security_groups: [],
      "OS-EXT-AZ:availability_zone": "nova",
      config_drive: "True",
      created: "2026-01-01T00:00:00Z",
      updated: "2026-01-01T00:00:00Z",
      "OS-EXT-STS:power_state": 1,
      "OS-EXT-STS:vm_state": "active",
      addresses: { [text(network?.["name"])]: interfaces },
    };
  }

  /**
   * Returns a new object of the Kubernetes API's load balancer. A project has only one such load
   * balancer, with at most one object of each kind.
   */
  #balancing(asked: Fields): Fields {
    const those = (kind: string): readonly Fields[] =>
      [...this.#all(`load-balancer/lbaas/${kind}`).keys()].map((one) => ({ id: one }));
    const port = this.#all("network/ports").get(text(asked["vip_port_id"]));
    const [fixed] = list(port?.["fixed_ips"]);
    return {
      provisioning_status: "ACTIVE",
      operating_status: "ONLINE",
      loadbalancers: those("loadbalancers"),
      listeners: those("listeners"),
      pools: those("pools"),
      members: [],
      ...asked,
      vip_address: fixed?.["ip_address"],
      vip_subnet_id: fixed?.["subnet_id"],
    };
  }
}

const hex = (number: number): string => number.toString(16).padStart(2, "0");
const lastOf = (collection: string): string => collection.split("/").at(-1) ?? "";
const singularOf = (collection: string): string => collections[lastOf(collection)] ?? "";
const pluralOf = (collection: string): string =>
  lastOf(collection).replace(/^os-/, "").replaceAll("-", "_");

/** Returns the fields that every object has. */
const ofAll = (id: string): Fields => ({
  id,
  status: "ACTIVE",
  tenant_id: fakeProject,
  project_id: fakeProject,
});
