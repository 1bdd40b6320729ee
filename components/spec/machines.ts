import { z } from "zod";
import { groupOptions, nodeOptions, nodesOf } from "./group-options.js";
import {
  address4,
  doc,
  label,
  list,
  present,
  record,
  shown,
  text,
  truth,
  whole,
} from "../arguments/values.js";
import { etcdVolumes, workerVolumes } from "./volumes.js";

export const generation = whole(0, "a generation")
  .default(0)
  .meta(
    doc(
      "replaces nodes",
      "Raise it to replace these machines by new ones with the present image, flavor, zone, user data and login key. Until then those are frozen. They are replaced one at a time: drained before, Ready before the next.",
    ),
  );

const flavor = present("a flavor").meta(
  doc("replaces nodes", "Flavor of each machine, by name or ID."),
);

/** Numbers of etcd members that can lose one (or two) and go on; two would be worse than one. */
const quorums = [1, 3, 5];

const controlPlaneGeneration = whole(0, "a generation")
  .default(0)
  .meta(
    doc(
      "replaces nodes",
      "Raise it to replace the control planes, of which there are 3 or 5, by new ones with the present image, flavor, zone, user data and login key. Until then those are frozen. They are replaced one at a time in the order of their positions: drained and out of etcd before, a member again before the next.",
    ),
  );

/** The machines that run the Kubernetes API and etcd. */
export const controlPlane = record({
  flavor: present("a flavor").meta(
    doc(
      "replaces nodes",
      "Flavor of each control plane, by name or ID. Frozen while the machine lives.",
    ),
  ),
  count: z
    .number({
      error: ({ input }) => `${shown(input)} is not a number of control planes; write 1, 3 or 5`,
    })
    .refine((count) => quorums.includes(count), {
      error: ({ input }) => `${shown(input)} control planes have no good majority; write 1, 3 or 5`,
    })
    .optional()
    .meta(
      doc(
        "in place",
        "How many machines run the Kubernetes API and etcd: 1, 3 or 5. More join one after the other; the last ones go first.",
        "`1`; `3` with the topology `ha`",
      ),
    ),
  generation: controlPlaneGeneration,
  schedulable: truth()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether pods of any kind run on the control planes too, and load balancers lead to them.",
        "`false`; `true` with the topology `single`",
      ),
    ),
  ...groupOptions,
  ...nodeOptions,
  ...etcdVolumes.all,
  nodes: nodesOf(etcdVolumes.one),
});

/** Groups of equal workers by name; the name is part of the machines' names. */
const pools = z.record(
  label("the name of a worker pool"),
  record({
    flavor,
    count: whole(0, "the number of machines in the pool").meta(
      doc(
        "in place",
        "How many machines the pool has. Machines are named by position; the last ones go first.",
      ),
    ),
    generation,
    ...groupOptions,
    ...nodeOptions,
    ...workerVolumes.all,
    nodes: nodesOf(workerVolumes.one),
  }),
  {
    error: ({ code }) =>
      code === "invalid_key"
        ? "is not the name of a worker pool; use lower-case letters, digits and dashes"
        : "is not a map of pools; write one like `general: {flavor: ..., count: 2}`",
  },
);
export const workers = pools.default({});

export const zones = list(present("an availability zone"), 0, "a list of availability zones")
  .default([])
  .meta(
    doc(
      "replaces nodes",
      "Availability zones over which the machines of each group are spread in turn. Empty: Nova chooses.",
    ),
  );

const publicKey =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-\S+@openssh\.com) [A-Za-z0-9+/]+=*( .*)?$/;

/** The key itself of a line of `authorized_keys` without options: its type says the same, and its name is anybody's. */
export const keyIn = (line: string): string => line.split(" ")[1] ?? "";

export const timeoutFactor = whole(1, "a factor", 20)
  .default(1)
  .meta(
    doc(
      "in place",
      "How many times as long as usual everything that depends on the speed of a machine may take: its boot, kubeadm's own timeouts, each step on it, add-ons, verification and `destroy`. For machines that are slow, on a busy host or with an emulated processor. It bounds failures only, so it makes nothing slower that works, but for one thing, see the end. A machine that turns out to be slower when it is prepared gets a larger factor, up to 5, by itself. Above 1, kubelet restarts a container of the control plane or of an add-on that fails its liveness probe after that many times as many failures (80 s for a component of the control plane, times the factor), a node is NotReady after that many times 50 s without a word of its kubelet, and controller manager, scheduler and add-ons keep their leader election that many times as long (`leader-elect-lease-duration` 15 s, add-ons 45 s). A change runs the idempotent `prepare` again, restarts API server, controller manager, scheduler and kubelet, one machine after another, and replaces the pods of add-ons in turn; it replaces no machine. Where the leader's machine is lost, another takes over when the lease is over: 15 s times the factor later, an add-on's 45 s times the factor.",
    ),
  );

export const securityUpdates = truth()
  .default(true)
  .meta(
    doc(
      "in place",
      "Whether the machines install the distribution's security updates by themselves, with its unattended-upgrades, from when they are prepared. Nothing restarts by it but what an update restarts; what this program pins is held, and no machine reboots.",
    ),
  );

/** How the program, and people, log in to the machines. */
export const ssh = record({
  user: text(
    (value) => /^[a-z_][a-z0-9_-]{0,31}$/.test(value),
    "is not a login name; use lower-case letters, digits, dashes and underscores",
  )
    .default("debian")
    .meta(
      doc(
        "refused",
        "Login name; made on the machines, with sudo and without a password. Every connection has it, so that no machine could be reached that was made with another.",
      ),
    ),
  publicKey: text(
    (value) => publicKey.test(value),
    "is not a public key; write one line like `ssh-ed25519 AAAA...`",
    "start an ssh-agent with a key (`ssh-add`), or write one line like `ssh-ed25519 AAAA...`",
  ).meta(
    doc(
      "replaces nodes",
      "Public key that may log in. Its private half has to be in the ssh-agent while the program runs.",
      "the first ed25519 key of the ssh-agent, else its first key",
    ),
  ),
  bootMinutes: whole(1, "a number of minutes")
    .optional()
    .meta(
      doc(
        "in place",
        "Minutes that a new machine may take to answer on SSH once Nova says that it runs: virtual machines take one or two, bare metal up to ten and more. After them the next `up` replaces it. One that answered before is given up within 4 minutes times `timeoutFactor`.",
        "10 times `timeoutFactor`",
      ),
    ),
  floatingIp: address4
    .optional()
    .meta(
      doc(
        "refused",
        "A floating IP that the project has already, for the way in by SSH: on the bastion, or on the first control plane where the API's is not. It is only put there, and neither changed nor deleted. A way in that has another one keeps it until it goes.",
        "one is made",
      ),
    ),
  loginKeys: list(
    text(
      (value) => publicKey.test(value),
      "is not a public key; write one line like `ssh-ed25519 AAAA... name`",
    ),
    0,
    "a list of public keys",
  )
    .default([])
    .meta(
      doc(
        "in place",
        "Public keys of operators who may log in besides, on every machine and the bastion. A key that is taken out can no longer log in after the next `up`; sessions that are open stay.",
      ),
    ),
  revokedKeys: list(
    text(
      (value) => publicKey.test(value),
      "is not a public key; write the line of the key that may log in no more",
    ),
    0,
    "a list of public keys",
  )
    .default([])
    .meta(
      doc(
        "in place",
        "Public keys that may log in as `user` no more, whoever wrote them on a machine: also the `publicKey` that it was made with. The present `publicKey` is written to every machine then.",
      ),
    ),
}).superRefine(({ publicKey: program, loginKeys, revokedKeys }, context) => {
  const used = new Set([program, ...loginKeys].map(keyIn));
  revokedKeys.forEach((key, index) => {
    if (used.has(keyIn(key)))
      context.addIssue({
        code: "custom",
        path: ["revokedKeys", index],
        input: key,
        message: `'${key}' is publicKey or one of loginKeys, too; write it here or there, not both`,
      });
  });
});
