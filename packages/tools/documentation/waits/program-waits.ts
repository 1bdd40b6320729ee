/**
 * Wait in TypeScript. `{name}` in `limit` stands for a number in the code: the constant or the field
 * with this name in `file`, or `{name@path}` in another file.
 */
export interface ProgramWait {
  readonly waitsFor: string;
  readonly file: string;
  /** Texts of the lines that wait. */
  readonly code: readonly string[];
  readonly limit: string;
  /** Effect of the end of the time. */
  readonly end: string;
}

const connection = "openstack/http/http-exchange.ts";

/** Waits of the commands and of the program, for the cloud and on the operator's computer. */
export const programWaits: readonly ProgramWait[] = [
  {
    waitsFor: "data of an HTTP answer",
    file: connection,
    code: ["request.setTimeout(options.timeout, giveUp)", "timeout * longestTimeoutFactor"],
    limit: "{defaultTimeout} without data, {longestTimeoutFactor} times as long in all",
    end: "the request fails",
  },
  {
    waitsFor: "all data of an HTTP answer through a proxy",
    file: "openstack/http/proxied-exchange.ts",
    code: ["const longest = setTimeout("],
    limit: "{longestTimeoutFactor@openstack/http/http-exchange.ts} times the time without data",
    end: "the request fails",
  },
  {
    waitsFor: "a change of the heartbeat of a killed job",
    file: "automation/guards/take-over-stack.ts",
    code: ["await pause(poll", "await pause(settle"],
    limit: "{unchanged}, and {settle} after the claim",
    end: "the command takes over the stack, or fails with STACK_LOCKED",
  },
  {
    waitsFor: "a stored heartbeat of the owner",
    file: "base/lease.ts",
    code: ["this.#looking ??= setInterval("],
    limit: "{lease@automation/engine/owner-heartbeat.ts}",
    end: "the engine is killed: ENGINE_KILLED",
  },
  {
    waitsFor: "the next try of a request to the cloud",
    file: "openstack/http/retry.ts",
    code: ["await after(milliseconds", "clock.pause(wait"],
    limit: "{maximumTries} tries, {longestWait} between two tries",
    end: "the answer of the last try counts",
  },
  {
    waitsFor: "optional information of a service",
    file: "openstack/client/cloud-client.ts",
    code: ["AbortSignal.timeout(within)"],
    limit: "{expiryTimeout@openstack/checks/supplied-credential.ts}",
    end: "the command continues without the information",
  },
  {
    waitsFor: "the deletion of an object that is in use",
    file: "openstack/inventory/wait-until-unused.ts",
    code: ["await pause(interval", "await wait.pause("],
    limit: "{balancer} load balancers, {machine} servers and volumes, {other} other objects",
    end: "`destroy` or `orphans --delete` fails and names the object",
  },
  {
    waitsFor: "the deletion of an object, while the cloud still lists it",
    file: "openstack/inventory/marked-objects.ts",
    code: ["await wait.pause("],
    limit: "as for an object that is in use",
    end: "`destroy` or `orphans --delete` fails and names the object",
  },
  {
    waitsFor: "a service for which a proxy answers, in the search for leftovers",
    file: "openstack/inventory/inventory.ts",
    code: ["await pause(interval"],
    limit:
      "{tries@automation/destroy/sweep-leftovers.ts} tries, {interval@automation/destroy/sweep-leftovers.ts} between two tries",
    end: "`destroy` fails, or names the kinds that it cannot list",
  },
  {
    waitsFor: "Octavia's work on a load balancer",
    file: "automation/repair/broken-load-balancers.ts",
    code: ["await wait.pause("],
    limit: "{balancer@openstack/inventory/wait-until-unused.ts}",
    end: "fails with LOAD_BALANCER_ERROR",
  },
  {
    waitsFor: "the creation of a volume or a server",
    file: "components/machine/machine.ts",
    code: ["creationTimeoutMinutes.volume", "creationTimeoutMinutes.server"],
    limit:
      "{volume@components/lifecycle/create-timeouts.ts} min a volume, {server@components/lifecycle/create-timeouts.ts} min a server",
    end: "`up` fails; the next `up` repairs the object",
  },
  ...["load-balancer.ts", "ingress-load-balancer.ts", "load-balancer-options.ts"].map((file) => ({
    waitsFor: "a part of a load balancer",
    file: `components/endpoint/${file}`,
    code: ["customTimeouts: loadBalancerTimeouts"],
    limit: "{loadBalancer@components/lifecycle/create-timeouts.ts} min",
    end: "`up` fails; the next `up` continues",
  })),
  ...[
    "addons/block-storage.ts",
    "addons/cloud-controller.ts",
    "addons/keystone-auth.ts",
    "pod-network/manifest-addon.ts",
    "pod-network/flannel/flannel.ts",
    "pod-network/kube-router/kube-router.ts",
  ].map((file) => ({
    waitsFor: "the pods of a DaemonSet",
    file: `components/${file}`,
    code: ["customTimeouts: this.daemonSetTimeouts"],
    limit: "5 min and 1 min for each node, times `timeoutFactor`",
    end: "`up` fails and names the object",
  })),
  ...["block-storage.ts", "ingress-controller.ts", "metrics-server.ts", "snapshots.ts"].map(
    (file) => ({
      waitsFor: "the pods of a Deployment",
      file: `components/addons/${file}`,
      code: ['customTimeouts: { create: "5m", update: "5m" }'],
      limit: "5 min, times `timeoutFactor`",
      end: "`up` fails and names the object",
    }),
  ),
  ...["samples.ts", "ingress-controller.ts", "user-addon.ts"].map((file) => ({
    waitsFor: "the load balancer of a Service",
    file: `components/addons/${file}`,
    code: ["customTimeouts: loadBalancerServiceTimeouts"],
    limit: "15 min, times `timeoutFactor`",
    end: "`up` fails and names the Service",
  })),
  {
    waitsFor: "the objects of the samples",
    file: "components/addons/samples.ts",
    code: [
      'customTimeouts: { create: "3m", update: "3m" }',
      'customTimeouts: { create: "5m", update: "5m" }',
      "customTimeouts: volumeTimeouts",
    ],
    limit: "3 to 6 min, times `timeoutFactor`",
    end: "`up` fails and names the object",
  },
  {
    waitsFor: "the download of a file with a digest",
    file: "components/lookup/pinned-files.ts",
    code: ["AbortSignal.timeout(60000)"],
    limit: "1 min",
    end: "`up` fails and names the address",
  },
  {
    waitsFor: "a machine that does not answer on SSH",
    file: "components/lifecycle/script-retries.ts",
    code: ["await delay("],
    limit:
      "`ssh.bootMinutes` for the first boot, else {longestDialSeconds@components/remote-scripts/remote-script.ts} s times `timeoutFactor`",
    end: "fails with SSH_UNREACHABLE or SERVER_STOPPED",
  },
  {
    waitsFor: "a sign of life of a script on a machine",
    file: "automation/engine/script-watchdog.ts",
    code: ["setInterval("],
    limit: "{silence} before Nova is asked, {longest} in all",
    end: "fails with SERVER_STOPPED or SERVER_SILENT",
  },
  {
    waitsFor: "the end of a program after its error",
    file: "automation/engine/program-watchdog.ts",
    code: ["setInterval("],
    limit: "{idle}, and {end} after the cancel signal",
    end: "the engine is ended, and the error is reported",
  },
  {
    waitsFor: "the end of the engine and of its process",
    file: "automation/engine/run-engine.ts",
    code: ["await pause(50)", "setTimeout(end, ", "setTimeout(endWorker, "],
    limit: "{graceMilliseconds} after SIGINT, {exitMilliseconds} after the result",
    end: "the process gets SIGKILL",
  },
  {
    waitsFor: "the engine of a command that was killed",
    file: "automation/guards/stack-lock.ts",
    code: ["await pause(200"],
    limit: "{endingMilliseconds}",
    end: "fails with STACK_LOCKED",
  },
  {
    waitsFor: "a lock that another process of stackadm holds",
    file: "base/file-lock.ts",
    code: ["await delay(200"],
    limit:
      "{readingMilliseconds@automation/pulumi/workspace.ts} the settings, {waitMs@automation/toolchain/toolchain.ts} the toolchain",
    end: "fails and names the process",
  },
  {
    waitsFor: "a command of the Pulumi CLI that reads or writes the state",
    file: "automation/pulumi/stack-state.ts",
    code: [],
    limit:
      "{commandMilliseconds}; {answerMilliseconds@automation/guards/stack-elsewhere.ts} in a backend that was not chosen",
    end: "fails and names the command",
  },
  {
    waitsFor: "`pulumi plugin install`",
    file: "automation/toolchain/toolchain.ts",
    code: [],
    limit: "{installMilliseconds}",
    end: "fails and names the plugin",
  },
  {
    waitsFor: "`pulumi version`",
    file: "automation/toolchain/find-programs.ts",
    code: [],
    limit: "{timeout}",
    end: "fails and names the program",
  },
  {
    waitsFor: "apt-get on the operator's computer",
    file: "base/host-packages.ts",
    code: [],
    limit: "{aptMilliseconds}",
    end: "fails and names the command",
  },
  {
    waitsFor: "`kubectl version`",
    file: "automation/setup/kubectl.ts",
    code: ["AbortSignal.timeout(timeout)"],
    limit: "{timeout}",
    end: "no advice about kubectl is given",
  },
  {
    waitsFor: "the ssh-agent",
    file: "automation/setup/ssh-agent.ts",
    code: ["AbortSignal.timeout(answerMilliseconds)", "await pause(20)"],
    limit: "{answerMilliseconds} an answer, {startTimeout} its start",
    end: "fails and names the agent",
  },
  {
    waitsFor: "the keys in the ssh-agent, in the program",
    file: "components/lookup/agent-keys.ts",
    code: [],
    limit: "{agentMilliseconds}",
    end: "the program uses no key of the agent",
  },
  {
    waitsFor: "a login by SSH, and a silent connection",
    file: "base/ssh-client.ts",
    code: [],
    limit: "{connectTimeout} a login, 3 keepalive requests every {keepaliveInterval}",
    end: "the connection is closed",
  },
  {
    waitsFor: "a request to an address of the cluster through a machine",
    file: "automation/verify/ssh-sessions.ts",
    code: ["timer = setTimeout("],
    limit: "{requestTimeout}",
    end: "the check fails",
  },
  {
    waitsFor: "data of a program of `backup` or `restore` on a machine",
    file: "automation/verify/ssh-sessions.ts",
    code: ["timer = setTimeout("],
    limit: "{commandSilenceMilliseconds}, times `timeoutFactor`",
    end: "fails with COMMAND_FAILED",
  },
  {
    waitsFor: "a step of `restore` after its connection failed",
    file: "automation/backup/restore-cluster.ts",
    code: ["await pause(persistence.pause)"],
    limit: "{tries} tries",
    end: "`restore` fails; the next `restore` continues",
  },
  {
    waitsFor: "a part of the cluster in `up` and `status`",
    file: "automation/verify/check.ts",
    code: ["await pause(Math.min", "retryUntilSuccess"],
    limit: "{defaultCheckTimeout}, times `timeoutFactor`",
    end: "the check fails, exit code 5",
  },
  {
    waitsFor: "all nodes in `up` and `status`",
    file: "automation/verify/verify-cluster.ts",
    code: ["retryUntilSuccess"],
    limit: "{defaultCheckTimeout@automation/verify/check.ts}, times `timeoutFactor`",
    end: "the nodes are listed as they are",
  },
  {
    waitsFor: "the cluster's API before `destroy`",
    file: "automation/destroy/wait-for-cluster-api.ts",
    code: ["await pause(1_000"],
    limit: "{waitMilliseconds}",
    end: "`destroy` is refused, and nothing was changed",
  },
];

/** Lines that look like a wait and are none. */
export const noWaits: readonly {
  readonly file: string;
  readonly code: string;
  readonly reason: string;
}[] = [
  {
    file: "base/terminal/progress-screen.ts",
    code: "setInterval(tick",
    reason: "draws the screen",
  },
  {
    file: "automation/engine/owner-heartbeat.ts",
    code: "await pause(delay",
    reason: "interval of the heartbeats",
  },
  {
    file: "automation/engine/run-engine.ts",
    code: "ended = setTimeout(kill",
    reason: "reads messages before the engine without a heartbeat is killed",
  },
  {
    file: "automation/engine/worker.ts",
    code: "setTimeout(kill",
    reason: "ends this process, even if its parent reads no messages",
  },
  {
    file: "base/file-lock.ts",
    code: "const beat = setInterval(",
    reason: "marks the own lock as alive until the work ends",
  },
  {
    file: "automation/pulumi/locks/lock-holders.ts",
    code: "const beat = setInterval(",
    reason: "marks the own note as alive until the engine ends",
  },
  {
    file: "base/run-command.ts",
    code: "AbortSignal.timeout(timeout)",
    reason: "the callers set the limit",
  },
  {
    file: "components/worker-pools.ts",
    code: "setTimeout(close, 0)",
    reason: "ends in the next turn of the event loop",
  },
  {
    file: "components/pulumi/slow-machine-timeouts.ts",
    code: "customTimeouts",
    reason: "multiplies the limits of other resources",
  },
  {
    file: "openstack/http/retry.ts",
    code: "pause: pauseUnlessAborted",
    reason: "names the function of the wait",
  },
];
