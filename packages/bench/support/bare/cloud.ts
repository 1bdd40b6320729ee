import { setTimeout as pause } from "node:timers/promises";
import type { CloudClient, ServiceType } from "../../../../openstack/client/cloud-client.js";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import { listOffer } from "../../../../openstack/checks/cloud-offer.js";
import { findByReference } from "../../../../openstack/client/name-or-id.js";
import type { RequiredLookups } from "../../../../openstack/checks/required-lookups.js";
import type { CloudFacts } from "../../../../components/lookup/cloud-lookup.js";
import type { Fields, CreatedResource } from "../../../../test/support/graph/graph.js";

/**
 * API call that creates an object, and function that reads the program's outputs from the answer.
 */
interface Creation {
  readonly service: ServiceType;
  readonly path: string;
  /** Key of the object in the request's and the answer's JSON. */
  readonly key: string;
  readonly body: Fields;
  /** Fields of the request outside the object. */
  readonly additional?: Fields;
  readonly outputs?: (made: Fields) => Fields;
}

/**
 * Returns an input that is a list of strings. `pickInputs` cannot return these inputs, because the APIs
 * use other names for them.
 */
const texts = (inputs: Fields, key: string): readonly string[] =>
  Array.isArray(inputs[key]) ? (inputs[key] as string[]) : [];
const items = (inputs: Fields, key: string): readonly Fields[] =>
  Array.isArray(inputs[key]) ? (inputs[key] as Fields[]) : [];

/**
 * Inputs that the call which creates an object does not need. `pool` is the external network, which
 * `valueSpecs` also names. `noSecurityGroups` means the same as an empty list.
 */
const implied: readonly string[] = [
  ...["pool", "noSecurityGroups", "forceDestroy", "forceDelete", "tags", "powerState"],
];

/**
 * Throws if `make` did not read one of the inputs. The bare calls must create the same objects as
 * the program, so no input may be ignored.
 */
function requireAllRead<T>(type: string, inputs: Fields, make: (inputs: Fields) => T): T {
  const read = new Set(implied);
  const made = make(
    new Proxy(inputs, {
      get: (target, key) => {
        read.add(String(key));
        return Reflect.get(target, key) as unknown;
      },
    }),
  );
  const unread = Object.keys(inputs).filter((key) => !read.has(key));
  if (unread.length === 0) return made;
  throw new Error(`${type}: ${unread.join(", ")} cannot be had by bare calls.`);
}

/** Returns `allowedCidrs` as `allowed_cidrs`, the spelling of the APIs. */
const underscored = (key: string): string =>
  key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns the inputs with these keys that have a value. Changes the keys to the spelling of the
 * APIs.
 */
const pickInputs = (inputs: Fields, ...keys: readonly string[]): Fields =>
  Object.fromEntries(
    keys.filter((key) => inputs[key] !== undefined).map((key) => [underscored(key), inputs[key]]),
  );

const network = (path: string, key: string, body: Fields): Creation => ({
  service: "network",
  path,
  key,
  body,
});
const balancer = (path: string, key: string, body: Fields): Creation => ({
  service: "load-balancer",
  path: `/lbaas/${path}`,
  key,
  body,
});

function port(inputs: Fields): Creation {
  const body = {
    ...pickInputs(inputs, "name", "description", "networkId", "adminStateUp"),
    ...pickInputs(inputs, "portSecurityEnabled"),
    fixed_ips: items(inputs, "fixedIps").map((one) => pickInputs(one, "subnetId", "ipAddress")),
    allowed_address_pairs: items(inputs, "allowedAddressPairs").map((one) =>
      pickInputs(one, "ipAddress"),
    ),
    security_groups: texts(inputs, "securityGroupIds"),
  };
  const outputs = (made: Fields): Fields => ({
    allFixedIps: items(made, "fixed_ips").map((one) => one["ip_address"]),
    macAddress: made["mac_address"],
  });
  return { ...network("/ports", "port", body), outputs };
}

function server(inputs: Fields): Creation {
  const hints = items(inputs, "schedulerHints")[0]?.["group"];
  return {
    service: "compute",
    path: "/servers",
    key: "server",
    body: {
      ...pickInputs(inputs, "name", "metadata", "tags", "configDrive", "availabilityZone"),
      imageRef: inputs["imageId"],
      flavorRef: inputs["flavorId"],
      networks: items(inputs, "networks").map((one) => ({ port: one["port"] })),
      user_data: Buffer.from(String(inputs["userData"])).toString("base64"),
    },
    additional: hints === undefined ? {} : { "os:scheduler_hints": { group: hints } },
    // Returns the requested zone, because the answer does not contain the scheduler's choice yet.
    outputs: () => ({ availabilityZone: inputs["availabilityZone"] ?? "nova" }),
  };
}

const rule = (inputs: Fields): Fields => ({
  ...pickInputs(inputs, "securityGroupId", "direction", "ethertype", "protocol", "description"),
  ...pickInputs(inputs, "portRangeMin", "portRangeMax", "remoteGroupId", "remoteIpPrefix"),
});

/**
 * API calls by resource type. A resource type without a call causes an error, so that no resource
 * is left out.
 */
const creations: Readonly<Record<string, (inputs: Fields, client: CloudClient) => Creation>> = {
  "openstack:networking/network:Network": (inputs) => ({
    ...network(
      "/networks",
      "network",
      pickInputs(inputs, "name", "adminStateUp", "portSecurityEnabled", "mtu", "description"),
    ),
    outputs: ({ mtu }) => ({ mtu }),
  }),
  "openstack:networking/subnet:Subnet": (inputs) =>
    network("/subnets", "subnet", {
      ...pickInputs(
        inputs,
        "name",
        "networkId",
        "cidr",
        "ipVersion",
        "dnsNameservers",
        "description",
      ),
      ...pickInputs(inputs, "allocationPools"),
    }),
  "openstack:networking/router:Router": (inputs) =>
    network("/routers", "router", {
      ...pickInputs(inputs, "name", "adminStateUp", "description"),
      external_gateway_info: { network_id: inputs["externalNetworkId"] },
    }),
  "openstack:networking/secGroup:SecGroup": (inputs) =>
    network("/security-groups", "security_group", pickInputs(inputs, "name", "description")),
  "openstack:networking/port:Port": port,
  "openstack:networking/floatingIp:FloatingIp": (inputs) => ({
    ...network("/floatingips", "floatingip", {
      ...pickInputs(inputs, "portId", "description"),
      ...(inputs["valueSpecs"] as Fields),
    }),
    outputs: (made) => ({ address: made["floating_ip_address"] }),
  }),
  "openstack:compute/serverGroup:ServerGroup": (inputs) => ({
    service: "compute",
    path: "/os-server-groups",
    key: "server_group",
    body: { ...pickInputs(inputs, "name"), policies: [inputs["policies"]].flat() },
  }),
  "openstack:compute/instance:Instance": server,
  "openstack:identity/applicationCredential:ApplicationCredential": (inputs, { userId }) => ({
    service: "identity",
    path: `/users/${userId}/application_credentials`,
    key: "application_credential",
    body: {
      ...pickInputs(inputs, "name", "description", "unrestricted"),
      roles: texts(inputs, "roles").map((name) => ({ name })),
    },
    outputs: ({ secret }) => ({ secret }),
  }),
  "openstack:loadbalancer/loadBalancer:LoadBalancer": (inputs) => ({
    ...balancer("loadbalancers", "loadbalancer", {
      ...pickInputs(inputs, "name", "description", "vipPortId", "vipSubnetId", "tags"),
      provider: inputs["loadbalancerProvider"],
    }),
    outputs: (made) => ({ vipAddress: made["vip_address"], vipPortId: made["vip_port_id"] }),
  }),
  "openstack:loadbalancer/listener:Listener": (inputs) =>
    balancer("listeners", "listener", {
      ...pickInputs(inputs, "name", "protocol", "protocolPort", "allowedCidrs", "tags"),
      ...pickInputs(inputs, "timeoutClientData", "timeoutMemberData"),
      loadbalancer_id: inputs["loadbalancerId"],
    }),
  "openstack:loadbalancer/pool:Pool": (inputs) =>
    balancer("pools", "pool", {
      ...pickInputs(inputs, "name", "protocol", "listenerId"),
      lb_algorithm: inputs["lbMethod"],
    }),
  "openstack:loadbalancer/monitor:Monitor": (inputs) =>
    balancer("healthmonitors", "healthmonitor", {
      ...pickInputs(inputs, "name", "poolId", "type", "urlPath", "httpMethod", "expectedCodes"),
      ...pickInputs(inputs, "delay", "timeout", "maxRetries", "maxRetriesDown"),
    }),
  "openstack:loadbalancer/member:Member": (inputs) =>
    balancer(
      `pools/${String(inputs["poolId"])}/members`,
      "member",
      pickInputs(inputs, "name", "address", "protocolPort", "subnetId"),
    ),
};

/**
 * Milliseconds during which security group rules are collected. Then one call for each group
 * creates them.
 */
const ruleBatchMilliseconds = 20;
/**
 * Retries of a call while a load balancer is busy. A load balancer accepts one change at a time.
 */
const busyRetries = { times: 600, milliseconds: 100 };

/**
 * Cloud client that creates each object by one call. Tags of network objects need a second call.
 */
export class BareCloudClient {
  #rules: { readonly body: Fields; readonly made: () => void }[] = [];
  #flushed: Promise<void> | undefined;
  readonly #tags: Promise<unknown>[] = [];

  constructor(private readonly client: CloudClient) {}

  async make(type: string, inputs: Fields): Promise<CreatedResource> {
    if (type === "openstack:networking/secGroupRule:SecGroupRule") return this.#rule(inputs);
    if (type === "openstack:networking/routerInterface:RouterInterface") {
      const path = `/routers/${String(inputs["routerId"])}/add_router_interface`;
      await this.client.request("network", "PUT", path, pickInputs(inputs, "subnetId"));
      return { id: String(inputs["subnetId"]), outputs: {} };
    }
    const known = creations[type];
    if (!known)
      throw new Error(`${type} is not made by bare calls: packages/bench/support/bare/cloud.ts.`);
    const creation = requireAllRead(type, inputs, (read) => known(read, this.client));
    const { service, path, key, body, additional, outputs } = creation;
    const asked = { [key]: body, ...additional };
    const answer = await this.#whileBusy(() => this.client.request(service, "POST", path, asked));
    const made = (answer as Record<string, Fields>)[key] ?? {};
    const id = String(made["id"]);
    const tags = texts(inputs, "tags");
    // Octavia and Nova take the tags in the call that creates the object.
    if (service === "network" && tags.length > 0)
      this.#tags.push(this.client.request(service, "PUT", `${path}/${id}/tags`, { tags }));
    return { id, outputs: outputs?.(made) ?? {} };
  }

  /** Waits until all calls that set tags are answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#tags);
  }

  async #rule(inputs: Fields): Promise<CreatedResource> {
    await new Promise<void>((made, failed) => {
      this.#rules.push({ body: requireAllRead("a rule", inputs, rule), made });
      this.#flushed ??= this.#flush();
      this.#flushed.catch(failed);
    });
    return { id: "of-many", outputs: {} };
  }

  /**
   * Creates all rules collected so far, by one call for each group. Neutron's bulk call accepts
   * only the rules of one group.
   */
  async #flush(): Promise<void> {
    await pause(ruleBatchMilliseconds);
    const rules = this.#rules;
    [this.#rules, this.#flushed] = [[], undefined];
    const groups = new Set(rules.map(({ body }) => body["security_group_id"]));
    const calls = [...groups].map(async (group) => {
      const ofGroup = rules.filter(({ body }) => body["security_group_id"] === group);
      await this.client.request("network", "POST", "/security-group-rules", {
        security_group_rules: ofGroup.map(({ body }) => body),
      });
      for (const { made } of ofGroup) made();
    });
    await Promise.all(calls);
  }

  async #whileBusy(ask: () => Promise<unknown>): Promise<unknown> {
    for (let left = busyRetries.times; ; left -= 1) {
      try {
        return await ask();
      } catch (error) {
        const busy = error instanceof CloudError && error.kind === "conflict";
        if (!busy || left === 0) throw error;
        await pause(busyRetries.milliseconds);
      }
    }
  }
}

const idOf = (
  what: string,
  reference: string,
  all: readonly { readonly id: string; readonly name: string | null }[],
): string => {
  const [found] = findByReference(reference, all);
  if (!found) throw new Error(`The cloud has no ${what} '${reference}'.`);
  return found.id;
};

/** Returns the IDs of the image, flavors and external network that the specification names. */
export async function lookUpCloudFacts(
  client: CloudClient,
  wanted: RequiredLookups,
): Promise<CloudFacts> {
  const { externalNetwork = "" } = wanted;
  const offer = await listOffer(client, {
    machines: [],
    volumeTypes: [],
    volumeZones: [],
    volumesFollowZones: false,
    spareZones: [],
    podZones: [],
    externalNetworks: { externalNetwork },
  });
  const { images, flavors, externalNetworks } = offer;
  const { scope } = client;
  if (!scope) throw new Error("The cloud's catalog has no public identity endpoint.");
  return {
    imageIds: Object.fromEntries(wanted.images.map((one) => [one, idOf("image", one, images)])),
    flavorIds: Object.fromEntries(wanted.flavors.map((one) => [one, idOf("flavor", one, flavors)])),
    externalNetworkId: idOf("external network", externalNetwork, externalNetworks),
    externalNetworkName: externalNetwork,
    scope,
  };
}
