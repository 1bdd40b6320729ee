import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { applied } from "../../lab/support/kubectl.js";
import { manifestOf } from "../../lab/support/own-pods.js";
import type { EmulatedStack } from "./emulated-stack.js";
import { untilTrue } from "./until-true.js";

const minutes = 60_000;
/** Time before and after a disturbance in which pings are sent, in ms: less than what kube-router needs to repair its routes. */
const margin = 15_000;
/** Seconds between two pings. */
const interval = 0.5;
const namespace = "traffic";
const labels = { app: "net" };

/** A pod per node, also on control planes, and a service in front of them. */
const objects = (agnhost: string): object[] => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
  {
    ...{ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "net", namespace } },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          tolerations: [{ operator: "Exists" }],
          containers: [
            {
              ...{ name: "net", image: agnhost, args: ["netexec", "--http-port=8080"] },
              // It listens seconds after it started on an emulated processor.
              readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 2, timeoutSeconds: 10 },
            },
          ],
        },
      },
    },
  },
  {
    ...{ apiVersion: "v1", kind: "Service", metadata: { name: "net", namespace } },
    spec: {
      type: "NodePort",
      selector: labels,
      ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }],
    },
  },
];

/** Lets nothing into the pods of the namespace. */
const closed = {
  ...{ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy" },
  metadata: { name: "closed", namespace },
  spec: { podSelector: { matchLabels: labels }, policyTypes: ["Ingress"], ingress: [] },
};

export interface NetPod {
  readonly name: string;
  readonly address: string;
  readonly node: string;
  readonly host: string;
}

/** Pods that listen and connect, one per node. */
export class Traffic {
  constructor(private readonly stack: EmulatedStack) {}

  async run(): Promise<void> {
    await this.stack.kubectl(applied(manifestOf(objects(this.stack.agnhost()))));
    await this.ready();
  }

  async ready(): Promise<void> {
    await this.stack.kubectl(`-n ${namespace} rollout status daemonset net --timeout=600s`);
  }

  async pods(): Promise<NetPod[]> {
    const fields = "{.metadata.name} {.status.podIP} {.spec.nodeName} {.status.hostIP}";
    const list = `-n ${namespace} get pods -l app=net -o jsonpath='{range .items[*]}${fields}{"\\n"}{end}'`;
    return (await this.stack.kubectl(list))
      .trim()
      .split("\n")
      .map((line) => {
        const [name = "", address = "", node = "", host = ""] = line.split(" ");
        return { name, address, node, host };
      });
  }

  /** Targets (host:port) that answer a pod. */
  async answering(from: NetPod, targets: readonly string[]): Promise<string[]> {
    const each = `for t in ${targets.join(" ")}; do /agnhost connect $t --timeout=8s >/dev/null 2>&1 && echo $t; done; true`;
    const words = `-n ${namespace} exec ${from.name} -- sh -c '${each}'`;
    return (await this.stack.kubectl(words)).split("\n").filter((line) => line !== "");
  }

  /** From every pod: what must be open is, and what must be closed is not. `outside`: places beyond the cluster (host:port). */
  async prove(outside: readonly string[] = []): Promise<void> {
    const pods = await this.pods();
    assert.ok(pods.length >= 2, JSON.stringify(pods));
    assert.equal(new Set(pods.map(({ node }) => node)).size, pods.length);
    const open = [
      ...pods.flatMap(({ address, host }) => [`${address}:8080`, `${host}:30080`]),
      ...["net.traffic:80", "kubernetes.default.svc.cluster.local:443", ...outside],
    ];
    const shut = [
      ...pods.flatMap(({ host }) => [`${host}:10250`, `${host}:22`]),
      ...["169.254.169.254:80"],
    ];
    for (const from of pods) {
      const found = await this.answering(from, [...open, ...shut]);
      assert.deepEqual(found, open, `from ${from.name} on ${from.node}`);
    }
  }

  /** A policy closes the pods to each other, on every node, and they open again without it. */
  async provePolicy(): Promise<void> {
    const pods = await this.pods();
    const addresses = pods.map(({ address }) => `${address}:8080`);
    const others = (from: NetPod) => addresses.filter((one) => one !== `${from.address}:8080`);
    const reached = async (): Promise<number> => {
      const all = [];
      for (const from of pods) all.push(...(await this.answering(from, others(from))));
      return all.length;
    };
    const every = pods.length * (pods.length - 1);
    assert.equal(await reached(), every);
    await this.stack.kubectl(applied(manifestOf([closed])));
    try {
      await untilTrue("the policy holds", 2 * minutes, async () => (await reached()) === 0);
    } finally {
      await this.stack.kubectl(`-n ${namespace} delete networkpolicy closed`);
    }
    await untilTrue("it is open again", 2 * minutes, async () => (await reached()) === every);
  }

  /**
   * Longest time in seconds between two answers of a pod on another node to pings of this pod, from some seconds before `work` until
   * some seconds after it.
   */
  async longestGap(machine: string, work: () => Promise<unknown>): Promise<number> {
    const pods = await this.pods();
    const from = pods.find(({ node }) => node === `${this.stack.name}-${machine}`);
    const to = pods.find(({ node }) => node !== from?.node);
    assert.ok(from && to);
    const isThere = `ip -n $n -4 -o address | grep -q " ${from.address}/"`;
    // Bounded: a machine that hangs must not keep it.
    const ping = `ip netns exec $n ping -n -i ${interval} -W 1 -w 1800 ${to.address} || :`;
    const pinging = this.stack.on(
      machine,
      `for n in $(ip netns list | cut -d " " -f 1); do if ${isThere}; then ${ping}; fi; done`,
    );
    const ended = Promise.allSettled([pinging]);
    await delay(margin);
    try {
      await work();
      await delay(margin);
    } finally {
      await this.stack.on(machine, "pkill -INT -x ping || :");
      await ended;
    }
    const said = await pinging;
    const sent = Number(/^(\d+) packets transmitted/m.exec(said)?.[1]);
    const answered = [...said.matchAll(/icmp_seq=(\d+) ttl=/g)].map(([, sequence]) =>
      Number(sequence),
    );
    assert.ok(answered.length > 10, said);
    // Also what is lost at the end counts.
    const all = [...answered, sent + 1];
    const lost = all.slice(1).map((sequence, index) => sequence - (all[index] ?? 0) - 1);
    return (Math.max(...lost) + 1) * interval;
  }
}
