import { z } from "zod";
import { groupFieldSchemas, nodeFieldSchemas, nodesSchema } from "./group-options.js";
import {
  ipv4AddressField,
  doc,
  dnsLabelField,
  list,
  nonEmptyTextField,
  strictObject,
  shortValue,
  textField,
  booleanField,
  integerField,
  inputField,
} from "../../schema/fields.js";
import { etcdMemberVolumeSchemas, workerVolumeSchemas } from "./volumes.js";

export const generationSchema = integerField(0, "a generation")
  .default(0)
  .meta(
    doc(
      "replaces nodes",
      "Raise it to replace these machines with new ones that use the current image, flavor, zone, user data and login key. Until then these are frozen. Machines are replaced one at a time: each is drained before it is deleted, and the new one is Ready before the next is replaced.",
    ),
  );

const flavorSchema = inputField(nonEmptyTextField("a flavor")).meta(
  doc("replaces nodes", "Flavor of each machine, by name or ID."),
);

/**
 * Allowed numbers of control planes. Without `etcd`, each control plane runs an etcd member. 1, 3
 * and 5 members tolerate the loss of 0, 1 and 2 members. Two members fail more often than one.
 */
const quorums = [1, 3, 5];

const controlPlaneGenerationSchema = integerField(0, "a generation")
  .default(0)
  .meta(
    doc(
      "replaces nodes",
      "Raise it to replace the control planes, of which there must be 3 or 5, with new ones that use the current image, flavor, zone, user data and login key. Until then these are frozen. They are replaced one at a time in the order of their positions: each is drained and leaves etcd before it is deleted, and the new one is an etcd member before the next is replaced.",
    ),
  );

/** Machines that run the Kubernetes API and, without `etcd`, also etcd. */
export const controlPlaneSchema = strictObject({
  flavor: inputField(nonEmptyTextField("a flavor")).meta(
    doc(
      "replaces nodes",
      "Flavor of each control plane, by name or ID. Frozen while the machine exists.",
    ),
  ),
  count: z
    .number({
      error: ({ input }) =>
        `${shortValue(input)} is not a number of control planes; write 1, 3 or 5`,
    })
    .refine((count) => quorums.includes(count), {
      error: ({ input }) =>
        `${shortValue(input)} control planes have no good majority; write 1, 3 or 5`,
    })
    .optional()
    .meta(
      doc(
        "in place",
        "Number of machines that run the Kubernetes API and etcd: 1, 3 or 5. New ones join one after the other; those with the highest position are removed first.",
        "`1`; `3` with the topology `ha`",
      ),
    ),
  generation: controlPlaneGenerationSchema,
  schedulable: booleanField()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether ordinary pods also run on the control planes, and load balancers lead to them.",
        "`false`; `true` with the topology `single`",
      ),
    ),
  ...groupFieldSchemas,
  ...nodeFieldSchemas,
  ...etcdMemberVolumeSchemas.all,
  nodes: nodesSchema(etcdMemberVolumeSchemas.one),
});

/** Worker pools by name. A machine's name contains the name of its pool. */
const workerPoolsSchema = z.record(
  dnsLabelField("the name of a worker pool"),
  strictObject({
    flavor: flavorSchema,
    count: integerField(0, "the number of machines in the pool").meta(
      doc(
        "in place",
        "Number of machines in the pool. Machines are named by position; those with the highest position are removed first.",
      ),
    ),
    generation: generationSchema,
    ...groupFieldSchemas,
    ...nodeFieldSchemas,
    ...workerVolumeSchemas.all,
    nodes: nodesSchema(workerVolumeSchemas.one),
  }),
  {
    error: ({ code }) =>
      code === "invalid_key"
        ? "is not the name of a worker pool; use lower-case letters, digits and dashes"
        : "is not a map of pools; write one like `general: {flavor: ..., count: 2}`",
  },
);
export const workersSchema = workerPoolsSchema.default({});

export const zonesSchema = list(
  nonEmptyTextField("an availability zone"),
  0,
  "a list of availability zones",
)
  .default([])
  .meta(
    doc(
      "replaces nodes",
      "Availability zones over which the machines of each group are distributed in turn. Empty: Nova chooses.",
    ),
  );

const publicKey =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-\S+@openssh\.com) [A-Za-z0-9+/]+=*( .*)?$/;

/**
 * Returns the base64 part of a public key's line. Leaves out the key type, which the base64 part
 * also contains, and the comment, which may be any text. The line must begin with the key type, not
 * with options.
 */
export const getPublicKeyBase64 = (line: string): string => line.split(" ")[1] ?? "";

export const timeoutFactorSchema = integerField(1, "a factor", 20)
  .default(1)
  .meta(
    doc(
      "in place",
      "Factor by which everything that depends on the speed of a machine may take longer: its boot, kubeadm's own timeouts, each step on it, add-ons, verification and `destroy`. For slow machines, on a busy host or with an emulated processor. The factor only extends time limits, so it slows nothing down that works, with one exception (last sentence). A machine that proves slower while it is prepared gets a larger factor, up to 5, by itself for its own time limits, and `up` warns with the factor to write here, which alone changes what follows. Above 1, kubelet restarts a container of the control plane or of an add-on only after that many times as many failed liveness probes (80 s for a component of the control plane, times the factor), a node becomes NotReady when its kubelet has not reported for 50 s times the factor, and controller manager, scheduler and add-ons keep their leader election that many times as long (`leader-elect-lease-duration` 15 s, add-ons 45 s). A change runs the idempotent `prepare` again, restarts API server, controller manager, scheduler and kubelet, one machine after another, and replaces the pods of add-ons in turn; it replaces no machine. If a machine is lost, Kubernetes notices that many times later, and another leader takes over when the lease has expired: after 15 s times the factor, for an add-on after 45 s times the factor.",
    ),
  );

export const securityUpdatesSchema = booleanField()
  .default(true)
  .meta(
    doc(
      "in place",
      "Whether the machines install the distribution's security updates by themselves, with its unattended-upgrades, from their preparation on. Only what an update itself restarts is restarted; packages that this program pins are held, and no machine reboots.",
    ),
  );

/** Options of SSH logins by the program and by users. */
export const sshSchema = strictObject({
  user: textField(
    (value) => /^[a-z_][a-z0-9_-]{0,31}$/.test(value),
    "is not a login name; use lower-case letters, digits, dashes and underscores",
  )
    .default("debian")
    .meta(
      doc(
        "refused",
        "Login name; the program creates it on the machines, with sudo and without a password. Every connection uses it, so machines created with another name could not be reached.",
      ),
    ),
  publicKey: inputField(
    textField(
      (value) => publicKey.test(value),
      "is not a public key; write one line like `ssh-ed25519 AAAA...`",
      "start an ssh-agent with a key (`ssh-add`), or write one line like `ssh-ed25519 AAAA...`",
    ),
  ).meta(
    doc(
      "replaces nodes",
      "Public key that may log in. Its private key must be in the ssh-agent while the program runs.",
      "the first ed25519 key of the ssh-agent, else its first key",
    ),
  ),
  bootMinutes: integerField(1, "a number of minutes")
    .optional()
    .meta(
      doc(
        "in place",
        "Minutes that a new machine may take to answer on SSH after Nova reports it as running: virtual machines take one or two, bare metal up to ten and more. After that, the next `up` replaces it. The program gives up on a machine that answered before within 4 minutes times `timeoutFactor`.",
        "10 times `timeoutFactor`",
      ),
    ),
  floatingIp: inputField(ipv4AddressField)
    .optional()
    .meta(
      doc(
        "refused",
        "A floating IP that the project already has, for SSH: on the bastion, or on the first control plane if the API's floating IP is not there. The program only attaches it, and neither changes nor deletes it. If SSH already has another floating IP, it keeps that until the way in is removed.",
        "the program creates one",
      ),
    ),
  loginKeys: list(
    inputField(
      textField(
        (value) => publicKey.test(value),
        "is not a public key; write one line like `ssh-ed25519 AAAA... name`",
      ),
    ),
    0,
    "a list of public keys",
  )
    .default([])
    .meta(
      doc(
        "in place",
        "Additional public keys of operators who may log in, on every machine and the bastion. A removed key can no longer log in after the next `up`; open sessions continue.",
      ),
    ),
  revokedKeys: list(
    textField(
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
        "Public keys that may no longer log in as `user`, however they came onto a machine: also the `publicKey` with which the machine was created. The current `publicKey` is then written to every machine.",
      ),
    ),
}).superRefine(({ publicKey: program, loginKeys, revokedKeys }, context) => {
  const used = new Set([program, ...loginKeys].map(getPublicKeyBase64));
  revokedKeys.forEach((key, index) => {
    if (used.has(getPublicKeyBase64(key)))
      context.addIssue({
        code: "custom",
        path: ["revokedKeys", index],
        input: key,
        message: `'${key}' is publicKey or one of loginKeys, too; write it here or there, not both`,
      });
  });
});
