import { z } from "zod";
import {
  doc,
  oneOf,
  pemField,
  nonEmptyTextField,
  strictObject,
  jsonObjectField,
  shortValue,
  textField,
  booleanField,
  integerField,
} from "../../schema/fields.js";
import { findFieldProblems, findFlagProblem, type Decisions } from "./flags/decision.js";
import { apiServerDecisions } from "./flags/kube-apiserver.js";
import { controllerManagerDecisions } from "./flags/kube-controller-manager.js";
import { schedulerDecisions } from "./flags/kube-scheduler.js";

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);
/** Value of a flag, or a list of values for a flag that may occur several times. */
const flagValueSchema = z.union([scalarSchema, z.array(scalarSchema).min(1)], {
  error: ({ input }) =>
    `${shortValue(input)} is not a flag's value; write text, a number, true, false or a list of them`,
});

/**
 * Returns the schema of a control plane component's flags. A change applies to one control plane
 * after another.
 */
const component = (name: string, decisions: Decisions, example: string) =>
  strictObject({
    extraArgs: z
      .record(z.string(), flagValueSchema, {
        error: ({ input }) => `${shortValue(input)} is not an object; write flags of ${name}`,
      })
      .check(({ value, issues }) => {
        for (const [flag, written] of Object.entries(value)) {
          const message = findFlagProblem(name, decisions, flag, written);
          if (message !== undefined)
            issues.push({ code: "custom", path: [flag], input: written, message });
        }
      })
      .default({})
      .meta(
        doc(
          "restarts control plane",
          `Flags of ${name} by their name without dashes, like \`${example}\`; a list for a flag that may occur several times. They override kubeadm's own flags. A flag that follows another argument is refused with its name, and so is a value with which the cluster would not work.`,
        ),
      ),
  }).prefault({});

export const apiServerSchema = component("kube-apiserver", apiServerDecisions, "event-ttl: 2h");
export const controllerManagerSchema = component(
  "kube-controller-manager",
  controllerManagerDecisions,
  "terminated-pod-gc-threshold: 100",
);
export const schedulerSchema = component("kube-scheduler", schedulerDecisions, "v: 2");

/**
 * Shortest validity of a certificate, in hours: a week. If a renewal fails, there are still days to
 * retry it before the certificate expires.
 */
const leastHours = 168;

const hours = textField(
  (value) => /^[1-9]\d{0,6}h$/.test(value) && Number.parseInt(value) >= leastHours,
  `is not a validity of a certificate; write hours, like 8760h, and at least ${String(leastHours)}h, a week`,
).optional();

/** Validity of the certificates that kubeadm signs. */
export const certificatesSchema = strictObject({
  validity: hours.meta(
    doc(
      "in place",
      "Validity of certificates that kubeadm signs, in hours, at least `168h`, a week. It applies to certificates signed from now on: for new machines, for changed names, and when a control plane has less than a third of a certificate's lifetime left and signs its certificates again. Existing certificates keep their end until then.",
      "kubeadm's: `8760h`, a year",
    ),
  ),
  authorityValidity: hours.meta(
    doc(
      "refused",
      "Validity of the cluster's own certificate authorities, in hours, at least `168h`. They are created once, with the cluster.",
      "kubeadm's: `87600h`, ten years",
    ),
  ),
}).prefault({});

/** Authentication of users by an OpenID Connect provider. */
export const oidcSchema = strictObject({
  issuerUrl: textField(
    (value) => /^https:\/\/\S+$/.test(value),
    "is not the address of an issuer; write one that begins with https",
  ).meta(
    doc(
      "restarts control plane",
      "Issuer whose tokens the API server accepts, exactly as written in the tokens.",
      "**required** with `kubernetes.oidc`",
    ),
  ),
  clientId: nonEmptyTextField("a client").meta(
    doc(
      "restarts control plane",
      "Client for which tokens must be issued.",
      "**required** with `kubernetes.oidc`",
    ),
  ),
  usernameClaim: nonEmptyTextField("a claim")
    .optional()
    .meta(doc("restarts control plane", "Claim with the user's name.", "Kubernetes': `sub`")),
  usernamePrefix: z
    .string()
    .optional()
    .meta(
      doc(
        "restarts control plane",
        "Prefix of user names, so that none can be mistaken for a Kubernetes user; `-` means no prefix.",
        "Kubernetes': the issuer and `#`, none if the claim is `email`",
      ),
    ),
  groupsClaim: nonEmptyTextField("a claim")
    .optional()
    .meta(doc("restarts control plane", "Claim with the user's groups.")),
  groupsPrefix: z.string().optional().meta(doc("restarts control plane", "Prefix of group names.")),
  ca: pemField
    .optional()
    .meta(
      doc(
        "restarts control plane",
        "CA certificate that signed the issuer's certificate, in PEM.",
        "the CAs that the image trusts",
      ),
    ),
}).optional();

/** Audit log of the API server. */
export const auditSchema = strictObject({
  enabled: booleanField()
    .default(true)
    .meta(
      doc(
        "restarts control plane",
        "Whether the API server writes an audit log. Each control plane logs the requests that it received, to /var/log/kubernetes/audit/audit.log.",
      ),
    ),
  policy: z
    .union([oneOf(["metadata"]), jsonObjectField("an audit policy (audit.k8s.io/v1)")], {
      error: ({ input }) =>
        `${shortValue(input)} is not an audit policy; write metadata, or fields of audit.k8s.io/v1 Policy`,
    })
    .default("metadata")
    .meta(
      doc(
        "restarts control plane",
        "What is logged. `metadata`: who requested what and when. Or the fields of a Policy of audit.k8s.io/v1.",
      ),
    ),
  maxSize: integerField(1, "a number of MB")
    .default(100)
    .meta(doc("restarts control plane", "Size in MB at which a new file is started.")),
  maxBackups: integerField(1, "a number of files")
    .default(10)
    .meta(
      doc(
        "restarts control plane",
        "Number of former files that are kept in addition to the current one.",
      ),
    ),
  maxAge: integerField(1, "a number of days")
    .default(30)
    .meta(doc("restarts control plane", "Days after which former files are deleted.")),
}).prefault({});

/**
 * Returns the schema for fields of KubeletConfiguration or KubeProxyConfiguration. Refuses fields
 * and values according to `decisions`.
 */
export const componentFieldsSchema = (kind: string, decisions: Decisions) =>
  jsonObjectField(kind).check(({ value, issues }) => {
    for (const { path, message } of findFieldProblems(kind, decisions, value))
      issues.push({ code: "custom", path: [...path], input: value, message });
  });
