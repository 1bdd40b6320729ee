import { z } from "zod";
import {
  doc,
  list,
  nonEmptyTextField,
  strictObject,
  shortValue,
  textField,
} from "../../schema/fields.js";

const verbsSchema = list(
  nonEmptyTextField("a verb"),
  1,
  "a list of verbs, like [get, list, watch]",
);

/**
 * Returns the schema of a map whose keys are resources or paths, and whose values are lists of
 * verbs. `test` accepts a key. `wrong` is the error message for other keys.
 */
const permissions = (test: (key: string) => boolean, wrong: string) =>
  z
    .record(z.string(), verbsSchema, {
      error: ({ input }) =>
        `${shortValue(input)} is not an object; write lists of verbs by their name`,
    })
    .check(({ value, issues }) => {
      for (const key of Object.keys(value))
        if (!test(key)) issues.push({ code: "custom", path: [key], input: key, message: wrong });
    })
    .default({});

/**
 * Rule of k8s-keystone-auth's policy, version 2. Rules only allow requests. No rule can deny a
 * request.
 */
const policyRuleSchema = strictObject({
  projects: list(nonEmptyTextField("a project"), 1, "a list of projects").meta(
    doc(
      "restarts control plane",
      "OpenStack projects, by name or ID; the token must belong to one of them. Names are unique within a domain only: with several domains, write IDs.",
      "**required** with a rule",
    ),
  ),
  roles: list(nonEmptyTextField("a role"), 0, "a list of roles")
    .default([])
    .meta(
      doc("restarts control plane", "Roles that the user must have in the project, all of them."),
    ),
  resources: permissions(
    (key) => /^[^/\s]+\/[^/\s]+$/.test(key),
    "is not a namespace and a resource; write them with a slash between, like default/pods, and * for all",
  ).meta(
    doc(
      "restarts control plane",
      "Verbs by namespace and resource, like `default/pods: [get, list, watch]`; `*` matches all. A subresource counts as its resource: users who may create pods may run commands in them.",
    ),
  ),
  paths: permissions(
    (key) => key.startsWith("/"),
    "is not a path of the API; write one that begins with a slash, like /version",
  ).meta(
    doc(
      "restarts control plane",
      "Verbs by path, for requests that name no resource, like `/version: [get]`.",
    ),
  ),
});

/** Authentication of OpenStack users by Keystone. */
export const keystoneSchema = strictObject({
  url: textField(
    (value) => /^https?:\/\/\S+$/.test(value),
    "is not the address of Keystone; write one that begins with https",
  )
    .optional()
    .meta(
      doc(
        "restarts control plane",
        "Keystone whose tokens the API server accepts, at an address that the control planes reach; `keystone: {}` selects the Keystone of the cluster's own cloud. A user with a token for a project becomes that user in Kubernetes, in the user's Keystone groups and in a group named like the project's ID, with the rights that RBAC grants them. Names come from Keystone unchanged, from every domain: leave this out if you do not trust everyone who may create users and groups there.",
        "that of the cluster's cloud",
      ),
    ),
  policy: list(policyRuleSchema, 1, "a list of rules").optional(),
}).optional();

const own = /^authentication-token-webhook-(config-file|version)$/;
const ofPolicy = /^authorization-(mode|webhook-(config-file|version))$/;

/** Reports flags of the API server that `kubernetes.keystone` sets itself. */
export function findKeystoneConflicts({
  keystone: written,
  apiServer,
}: {
  readonly keystone?: z.output<typeof keystoneSchema>;
  readonly apiServer: { readonly extraArgs: Readonly<Record<string, unknown>> };
}): z.core.$ZodRawIssue[] {
  if (!written) return [];
  return Object.keys(apiServer.extraArgs)
    .filter((flag) => own.test(flag) || (written.policy && ofPolicy.test(flag)))
    .map((flag) => ({
      code: "custom",
      path: ["apiServer", "extraArgs", flag],
      input: flag,
      message: "is kubernetes.keystone's; leave one of them out",
    }));
}
