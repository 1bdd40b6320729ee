import type { CloudClient, ServiceType } from "../../../../openstack/client/cloud-client.js";
import { cloudAnswers } from "../../../../test/support/cloud/cloud-answers.js";
import type { Fields } from "../../../../test/support/graph/graph.js";
import { BareCloudClient } from "./cloud.js";
import { getObjectPath } from "./kubernetes-client.js";
import type { ResourceCreators, SshHop } from "./run-without-engine.js";

const size = (text: string): string => `${(text.length / 1024).toFixed(1)} KiB`;

const wayTo = ({ host, proxy }: SshHop): string =>
  proxy ? `${host} through ${wayTo(proxy)}` : host;

const flavor = (name: string) => ({ id: name, name, vcpus: 2, ram: 2048, disk: 20 });

/** Objects of the lab that a benchmark's cluster names. */
const lists: Readonly<Record<string, object>> = {
  "/images": { images: [{ id: "i", name: "debian-12", status: "active" }] },
  "/flavors/detail": { flavors: [flavor("k8s-control-plane"), flavor("k8s-worker")] },
  "/networks": { networks: [{ id: "e", name: "public" }] },
};

/** Fake cloud that creates nothing. It answers every request as if the object existed. */
export class DryRunCloud implements CloudClient {
  #made = 0;
  readonly projectId = "project";
  readonly projectName = "bench";
  readonly userId = "user";
  readonly authUrl = "https://keystone.example/v3";
  readonly region = "one";
  readonly restricted = false;
  readonly passwordEnd = undefined;
  readonly roles = ["member", "load-balancer_member"];
  readonly scope = {
    authUrl: this.authUrl,
    region: this.region,
    projectId: this.projectId,
    roles: this.roles,
  };
  readonly name = "dry";
  readonly connection = { verify: true, unseen: {}, certified: false, certificateEnd: undefined };

  constructor(private readonly say: (line: string) => void) {}

  offers(): boolean {
    return true;
  }

  glance(service: ServiceType, path: string): Promise<unknown> {
    return this.request(service, "GET", path);
  }

  request(service: ServiceType, method: string, path: string, body?: unknown): Promise<unknown> {
    const list = lists[path.split("?")[0] ?? ""];
    if (method === "GET" && list) {
      this.say(`GET ${service} ${path}`);
      return Promise.resolve(list);
    }
    const [key = "", asked] = Object.entries((body ?? {}) as Record<string, Fields>)[0] ?? [];
    const many = Array.isArray(asked) ? ` (${asked.length})` : "";
    const name = typeof asked?.["name"] === "string" ? ` ${asked["name"]}` : many;
    this.say(`${method} ${service} ${path}${name}`);
    this.#made += 1;
    const address = `10.0.0.${10 + this.#made}`;
    const made = {
      id: `${key}-${this.#made}`,
      mtu: 1400,
      secret: "secret",
      fixed_ips: [{ ip_address: address }],
      mac_address: "fa:16:3e:00:00:01",
      floating_ip_address: `203.0.113.${10 + this.#made}`,
      vip_address: address,
      vip_port_id: `vip-${this.#made}`,
    };
    return Promise.resolve({ [key]: made });
  }
}

/**
 * Returns functions that only print each action, in the order in which the actions would happen.
 */
export function createDryRunCreators(say: (line: string) => void): ResourceCreators {
  const cloud = new BareCloudClient(new DryRunCloud(say));
  const { outputs = {} } = cloudAnswers;
  const said = (type: string, name: string): string => String(outputs[type]?.({}, name)["stdout"]);
  return {
    cloud: (type, inputs) => cloud.make(type, inputs),
    machine: ({ name, hop, command, input }) => {
      say(`SSH ${name}: ${command}, ${size(input)}, to ${wayTo(hop)}`);
      return Promise.resolve(said("command:remote:Command", name));
    },
    here: (command) =>
      Promise.resolve(said("command:local:Command", /od -An/.test(command) ? "x-identity" : "")),
    cluster: () => undefined,
    put: (object) => {
      say(`PATCH ${getObjectPath(object)}`);
      return Promise.resolve();
    },
  };
}
