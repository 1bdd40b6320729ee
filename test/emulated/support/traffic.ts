import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { applied } from "../../lab/support/kubernetes/kubectl.js";
import { manifestOf } from "../../lab/support/kubernetes/own-pods.js";
import type { EmulatedStack } from "./emulated-stack.js";
import { untilTrue } from "./until-true.js";

const minutes = 60_000;
/**
 * Milliseconds during which pings run before and after a disturbance. It is shorter than the time
 * in which kube-router repairs its routes.
 */
const margin = 15_000;
/** Seconds between two pings. */
const interval = 0.5;
const namespace = "traffic";
const labels = { app: "net" };
/**
 * Returns a shell command that prints `$t` if a connection to `$t` (host:port) succeeds. It uses
 * nc, because the image's Go program takes seconds to start on an emulated processor.
 */
const connect = (seconds: number): string =>
  `nc -z -w ${seconds} "\${t%:*}" "\${t##*:}" >/dev/null 2>&1 && echo $t`;

/**
 * Returns a DaemonSet with one pod on every node, including control planes, and a Service for these
 * pods.
 */
const objects = (agnhost: string): object[] => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    metadata: { name: "net", namespace },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 1,
          tolerations: [{ operator: "Exists" }],
          containers: [
            {
              name: "net",
              image: agnhost,
              args: ["netexec", "--http-port=8080"],
              // On an emulated processor, the program starts to listen only after some seconds.
              readinessProbe: { tcpSocket: { port: 8080 }, periodSeconds: 2, timeoutSeconds: 10 },
            },
          ],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "net", namespace },
    spec: {
      type: "NodePort",
      selector: labels,
      ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }],
    },
  },
];

/** Policy that denies all connections to the pods of the namespace. */
const denyAll = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "closed", namespace },
  spec: { podSelector: { matchLabels: labels }, policyTypes: ["Ingress"], ingress: [] },
};

export interface NetPod {
  readonly name: string;
  readonly address: string;
  readonly node: string;
  readonly host: string;
}

/** Pods that connect to each other. There is one pod on each node. */
export class Traffic {
  constructor(private readonly stack: EmulatedStack) {}

  async run(): Promise<void> {
    await this.stack.kubectl(applied(manifestOf(objects(this.stack.agnhost()))));
    await this.ready();
  }

  async ready(): Promise<void> {
    await this.stack.kubectl(`-n ${namespace} rollout status daemonset net --timeout=600s`);
  }

  /**
   * Waits until the pod on this machine has started after the boot and all pods are ready. Before
   * kubelet reports the new containers, the API server still returns the pod's old address, and
   * reports the pod as ready.
   */
  async readyAfterBoot(machine: string): Promise<void> {
    const booted = await this.stack.bootTime(machine);
    const field = "{.items[0].status.containerStatuses[0].state.running.startedAt}";
    const ofNode = `--field-selector spec.nodeName=${this.stack.name}-${machine}`;
    const started = `-n ${namespace} get pods -l app=net ${ofNode} -o jsonpath='${field}'`;
    await untilTrue(`the pod on ${machine} starts after the boot`, 10 * minutes, async () => {
      const time = await this.stack.kubectl(started).catch(() => "");
      return Date.parse(time.trim()) > booted;
    });
    await this.ready();
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

  /** Returns the targets (host:port) to which a pod can connect, in the given order. */
  async answering(from: NetPod, targets: readonly string[]): Promise<string[]> {
    return this.#connected(from, `for t in ${targets.join(" ")}; do ${connect(8)}; done; true`);
  }

  /**
   * Returns the targets to which a pod can connect. The pod connects to all targets at the same
   * time.
   */
  async #answeringAtOnce(from: NetPod, targets: readonly string[]): Promise<string[]> {
    return this.#connected(from, `for t in ${targets.join(" ")}; do (${connect(20)}) & done; wait`);
  }

  async #connected(from: NetPod, script: string): Promise<string[]> {
    const words = `-n ${namespace} exec ${from.name} -- sh -c '${script}'`;
    return (await this.stack.kubectl(words)).split("\n").filter((line) => line !== "");
  }

  /**
   * Waits until every pod can connect to the open targets and to `outside` (host:port). Then
   * requires that no pod can connect to the closed targets. Returns the duration of the wait in
   * seconds. Pods may be ready before kube-router and kube-proxy have written the rules of their
   * nodes.
   */
  async prove(outside: readonly string[] = [], limitMs = 3 * minutes): Promise<number> {
    const pods = await this.pods();
    assert.ok(pods.length >= 2, JSON.stringify(pods));
    assert.equal(new Set(pods.map(({ node }) => node)).size, pods.length);
    const open = [
      ...pods.flatMap(({ address, host }) => [`${address}:8080`, `${host}:30080`]),
      ...["net.traffic:80", "kubernetes.default.svc.cluster.local:443", ...outside],
    ];
    const closed = [
      ...pods.flatMap(({ host }) => [`${host}:10250`, `${host}:22`]),
      ...["169.254.169.254:80"],
    ];
    const began = Date.now();
    for (const from of pods) await this.#waitUntilOpen(from, open, began + limitMs);
    const seconds = Math.round((Date.now() - began) / 1000);
    for (const from of pods) {
      // The open target proves that the time limit is long enough for a connection that runs at the
      // same time as the others.
      const [control = ""] = open;
      const found = await this.#answeringAtOnce(from, [control, ...closed]);
      assert.deepEqual(found, [control], `from ${from.name} on ${from.node}`);
    }
    return seconds;
  }

  /**
   * Waits until `prove` succeeds after a reboot. Returns the duration in seconds. kube-router and
   * kube-proxy exit if the API server is not ready yet. kubelet may wait 5 minutes before it starts
   * such a container again.
   */
  proveAfterReboot(): Promise<number> {
    return this.prove([], 12 * minutes);
  }

  async #waitUntilOpen(from: NetPod, targets: readonly string[], deadline: number): Promise<void> {
    for (;;) {
      try {
        const found = await this.answering(from, targets);
        assert.deepEqual(found, targets, `from ${from.name} on ${from.node}`);
        return;
      } catch (error) {
        // After a reboot, the API server or kubelet may also refuse to run the command in the pod.
        if (Date.now() > deadline) {
          process.stderr.write(`${await this.#networkState()}\n`);
          throw error;
        }
      }
      await delay(5_000);
    }
  }

  /** Returns the routes and NodePort rules of each node, and the state and logs of its network pods. */
  async #networkState(): Promise<string> {
    const ask = [
      "uptime; ip route",
      "{ iptables-save -t nat; nft list table ip kube-proxy; } | grep -w 30080 || echo no rule for the NodePort",
      "iptables-save -t filter | grep -E '^(:|-A (INPUT|FORWARD|OUTPUT) )'",
      "ps -eo pid,etimes,times,stat,wchan:20,args | grep -E '[i]ptables|[k]ube-proxy|[k]ube-router'",
    ].join("; ");
    const machines = (await this.pods()).map(({ node }) => node.slice(this.stack.name.length + 1));
    const lines = await Promise.all(
      machines.map(async (machine) => `${machine}:\n${await this.stack.on(machine, ask)}`),
    );
    const queries = [
      "-n kube-system get pods -o wide",
      "-n kube-system logs -l k8s-app=kube-proxy --prefix --tail=40",
      "-n kube-system logs -l app.kubernetes.io/name=kube-router --prefix --tail=40",
    ];
    for (const query of queries) lines.push(await this.stack.kubectl(query));
    return lines.join("\n");
  }

  /**
   * Requires that a NetworkPolicy blocks connections between pods on every node, until the policy
   * is deleted.
   */
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
    await this.stack.kubectl(applied(manifestOf([denyAll])));
    try {
      await untilTrue("the policy holds", 2 * minutes, async () => (await reached()) === 0);
    } finally {
      await this.stack.kubectl(`-n ${namespace} delete networkpolicy closed`);
    }
    await untilTrue("it is open again", 2 * minutes, async () => (await reached()) === every);
  }

  /**
   * Returns the longest time in seconds between two answers to pings. A pod of this machine pings a
   * pod on another node. The pings run during `work`, and for some seconds before and after it.
   */
  async longestGap(machine: string, work: () => Promise<unknown>): Promise<number> {
    const pods = await this.pods();
    const from = pods.find(({ node }) => node === `${this.stack.name}-${machine}`);
    const to = pods.find(({ node }) => node !== from?.node);
    assert.ok(from && to);
    const isThere = `ip -n $n -4 -o address | grep -q " ${from.address}/"`;
    // `-w` limits the duration, so that a machine that hangs does not block the test.
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
    // Lost pings at the end count too.
    const all = [...answered, sent + 1];
    const lost = all.slice(1).map((sequence, index) => sequence - (all[index] ?? 0) - 1);
    return (Math.max(...lost) + 1) * interval;
  }
}
