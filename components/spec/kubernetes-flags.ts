import { z } from "zod";
import {
  doc,
  oneOf,
  pem,
  present,
  record,
  settings,
  shown,
  text,
  truth,
  whole,
} from "../arguments/values.js";

/** Flags that belong to an argument of their own, or to what kubeadm makes: why, and what to write instead. */
type Reserved = readonly (readonly [flags: RegExp, instead: string])[];

const file = "is a file of kubeadm's; leave it out";
const connection: Reserved = [
  [/^((authentication-|authorization-)?kubeconfig|master)$/, file],
  [/^secure-port$/, "is where its health is asked; leave it out"],
];

const apiServerFlags: Reserved = [
  [/^advertise-address$/, "is the machine's own address; leave it out"],
  [
    /^(secure-port|bind-address)$/,
    "is where machines, endpoint and firewall expect the API; leave it out",
  ],
  [/^service-cluster-ip-range$/, "follows an argument; write network.services instead"],
  [
    /^service-node-port-range$/,
    "is where firewall, load balancers and ingress expect node ports, 30000-32767; leave it out",
  ],
  [/^etcd-(servers|cafile|certfile|keyfile)$/, "follows an argument; write `etcd` instead"],
  [
    /^(tls-cert-file|tls-private-key-file|client-ca-file|kubelet-client-(certificate|key)|proxy-client-(cert|key)-file|requestheader-client-ca-file|service-account-(signing-)?key-file)$/,
    file,
  ],
  [
    /^(anonymous-auth|enable-bootstrap-token-auth)$/,
    "is how kubelet asks for its health and machines join; leave it out",
  ],
  [
    /^oidc-(issuer-url|client-id|(username|groups)-(claim|prefix)|ca-file)$/,
    "follows an argument; write kubernetes.oidc instead",
  ],
  [
    /^audit-(policy-file|log-path|log-max(age|backup|size))$/,
    "follows an argument; write kubernetes.audit instead",
  ],
  [/^cloud-(provider|config)$/, "is the cloud controller's; write cloudController instead"],
];

const controllerManagerFlags: Reserved = [
  [/^(cluster-cidr|allocate-node-cidrs)$/, "follows an argument; write network.pods instead"],
  [/^service-cluster-ip-range$/, "follows an argument; write network.services instead"],
  [/^cluster-name$/, "is what load balancers are found by; leave it out"],
  [/^cloud-(provider|config)$/, "is the cloud controller's; write cloudController instead"],
  [
    /^(client-ca-file|requestheader-client-ca-file|root-ca-file|service-account-private-key-file|cluster-signing-(cert|key)-file)$/,
    file,
  ],
  ...connection,
];

const scalar = z.union([z.string(), z.number(), z.boolean()]);
/** A flag's value, or several where it may stand more than once. */
const flagValue = z.union([scalar, z.array(scalar).min(1)], {
  error: ({ input }) =>
    `${shown(input)} is not a flag's value; write text, a number, true, false or a list of them`,
});

const problemOf = (name: string, reserved: Reserved): string | undefined =>
  /^[a-z][a-z0-9-]*$/.test(name)
    ? reserved.find(([flags]) => flags.test(name))?.[1]
    : "is not the name of a flag; write it without dashes before it, in small letters";

/** A component of the control plane. Its flags change on one control plane after another. */
const component = (name: string, reserved: Reserved, example: string) =>
  record({
    extraArgs: z
      .record(z.string(), flagValue, {
        error: ({ input }) => `${shown(input)} is not an object; write flags of ${name}`,
      })
      .check(({ value, issues }) => {
        for (const flag of Object.keys(value)) {
          const problem = problemOf(flag, reserved);
          if (problem !== undefined)
            issues.push({ code: "custom", path: [flag], input: flag, message: problem });
        }
      })
      .default({})
      .meta(
        doc(
          "restarts control plane",
          `Flags of ${name} by their name without dashes, like \`${example}\`; a list where one may stand several times. They win over kubeadm's own; those that belong to another argument are refused with its name.`,
        ),
      ),
  }).prefault({});

export const apiServer = component("kube-apiserver", apiServerFlags, "event-ttl: 2h");
export const controllerManager = component(
  "kube-controller-manager",
  controllerManagerFlags,
  "terminated-pod-gc-threshold: 100",
);
export const scheduler = component("kube-scheduler", connection, "v: 2");

/** Hours in a week: what is good for less ends before a failed renewal has been tried a second time with some days to spare. */
const leastHours = 168;

const hours = text(
  (value) => /^[1-9]\d{0,6}h$/.test(value) && Number.parseInt(value) >= leastHours,
  `is not a time that a certificate lasts; write hours, like 8760h, and at least ${String(leastHours)}h, a week`,
).optional();

/** How long what kubeadm signs is good. */
export const certificates = record({
  validity: hours.meta(
    doc(
      "in place",
      "How long a certificate is good that kubeadm signs, in hours, at least `168h`, a week. Holds for those that are signed from now on: of machines that come, of changed names, and when a control plane has less than a third of a certificate's life left and signs its own anew. Certificates that exist keep their end until then.",
      "kubeadm's: `8760h`, a year",
    ),
  ),
  authorityValidity: hours.meta(
    doc(
      "refused",
      "How long the cluster's own authorities are good, in hours, at least `168h`. They are made once, with the cluster.",
      "kubeadm's: `87600h`, ten years",
    ),
  ),
}).prefault({});

/** Users that an OpenID Connect provider knows. */
export const oidc = record({
  issuerUrl: text(
    (value) => /^https:\/\/\S+$/.test(value),
    "is not the address of an issuer; write one that begins with https",
  ).meta(
    doc(
      "restarts control plane",
      "Issuer whose tokens the API server takes, exactly as it stands in them.",
      "**required** with `kubernetes.oidc`",
    ),
  ),
  clientId: present("a client").meta(
    doc(
      "restarts control plane",
      "Client for which tokens have to be made out.",
      "**required** with `kubernetes.oidc`",
    ),
  ),
  usernameClaim: present("a claim")
    .optional()
    .meta(doc("restarts control plane", "Claim that is the user's name.", "Kubernetes': `sub`")),
  usernamePrefix: z
    .string()
    .optional()
    .meta(
      doc(
        "restarts control plane",
        "Put before users' names, so that none is taken for one of Kubernetes' own; `-` puts nothing there.",
        "Kubernetes': the issuer and `#`, nothing where the claim is `email`",
      ),
    ),
  groupsClaim: present("a claim")
    .optional()
    .meta(doc("restarts control plane", "Claim that lists the user's groups.")),
  groupsPrefix: z
    .string()
    .optional()
    .meta(doc("restarts control plane", "Put before groups' names.")),
  ca: pem
    .optional()
    .meta(
      doc(
        "restarts control plane",
        "Certificate of the authority that signed the issuer's, in PEM.",
        "the authorities that the image trusts",
      ),
    ),
}).optional();

/** What the API server writes down of what it was asked. */
export const audit = record({
  enabled: truth()
    .default(true)
    .meta(
      doc(
        "restarts control plane",
        "Whether the API server writes down what it was asked. Each control plane writes what it was asked itself, to /var/log/kubernetes/audit/audit.log.",
      ),
    ),
  policy: z
    .union([oneOf(["metadata"]), settings("an audit policy (audit.k8s.io/v1)")], {
      error: ({ input }) =>
        `${shown(input)} is not an audit policy; write metadata, or fields of audit.k8s.io/v1 Policy`,
    })
    .default("metadata")
    .meta(
      doc(
        "restarts control plane",
        "What is written: `metadata`, who asked for what and when, or the fields of a Policy of audit.k8s.io/v1.",
      ),
    ),
  maxSize: whole(1, "a number of MB")
    .default(100)
    .meta(doc("restarts control plane", "From how many MB on a new file is begun.")),
  maxBackups: whole(1, "a number of files")
    .default(10)
    .meta(
      doc(
        "restarts control plane",
        "How many former files are kept beside the one that is written.",
      ),
    ),
  maxAge: whole(1, "a number of days")
    .default(30)
    .meta(doc("restarts control plane", "After how many days former files go.")),
}).prefault({});

/**
 * Fields of KubeletConfiguration or KubeProxyConfiguration; `reserved` ones are written by kubeadm or asked by this program, and of
 * those in `words` only these are taken, because with another one nothing starts.
 */
export const fieldsOf = (
  kind: string,
  reserved: Readonly<Record<string, string>>,
  words: Readonly<Record<string, readonly string[]>> = {},
) =>
  settings(kind).check(({ value, issues }) => {
    const refuse = (field: string, message: string): void =>
      void issues.push({ code: "custom", path: [field], input: field, message });
    for (const [field, message] of Object.entries({
      apiVersion: "is kubeadm's; leave it out",
      kind: "is kubeadm's; leave it out",
      ...reserved,
    }))
      if (field in value) refuse(field, message);
    for (const [field, known] of Object.entries(words))
      if (field in value && !known.some((word) => word === value[field]))
        refuse(
          field,
          `${shown(value[field])} is not known here; write ${known.filter(Boolean).join(" or ")}`,
        );
  });
