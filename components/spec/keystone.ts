import { z } from "zod";
import { doc, list, present, record, shown, text } from "../arguments/values.js";

const verbs = list(present("a verb"), 1, "a list of verbs, like [get, list, watch]");

/** What may be done, by what it is done to. */
const permissions = (test: (key: string) => boolean, wrong: string) =>
  z
    .record(z.string(), verbs, {
      error: ({ input }) => `${shown(input)} is not an object; write lists of verbs by their name`,
    })
    .check(({ value, issues }) => {
      for (const key of Object.keys(value))
        if (!test(key)) issues.push({ code: "custom", path: [key], input: key, message: wrong });
    })
    .default({});

/** A rule of k8s-keystone-auth's second version, which allows; it has none that forbids. */
const rule = record({
  projects: list(present("a project"), 1, "a list of projects").meta(
    doc(
      "restarts control plane",
      "Projects of OpenStack, by name or ID, for one of which the token has to be made out. Names are unique in a domain only: with several domains, write IDs.",
      "**required** with a rule",
    ),
  ),
  roles: list(present("a role"), 0, "a list of roles")
    .default([])
    .meta(doc("restarts control plane", "Roles that the user has to have there, all of them.")),
  resources: permissions(
    (key) => /^[^/\s]+\/[^/\s]+$/.test(key),
    "is not a namespace and a resource; write them with a slash between, like default/pods, and * for all",
  ).meta(
    doc(
      "restarts control plane",
      "Verbs by namespace and resource, like `default/pods: [get, list, watch]`; `*` is all. A subresource counts as its resource: who may create pods may run commands in them.",
    ),
  ),
  paths: permissions(
    (key) => key.startsWith("/"),
    "is not a path of the API; write one that begins with a slash, like /version",
  ).meta(
    doc(
      "restarts control plane",
      "Verbs by path, for what is no resource, like `/version: [get]`.",
    ),
  ),
});

/** Users that OpenStack knows. */
export const keystone = record({
  url: text(
    (value) => /^https?:\/\/\S+$/.test(value),
    "is not the address of Keystone; write one that begins with https",
  )
    .optional()
    .meta(
      doc(
        "restarts control plane",
        "Keystone whose tokens the API server takes, as the control planes reach it; `keystone: {}` takes those of the cluster's own cloud. Whoever has one for a project is that user then, in the groups of Keystone and in one called like the project's ID, and may do what RBAC gives them. Names come from Keystone as they are, of every domain: leave it out where you do not trust whoever may create users and groups there.",
        "the cloud's own",
      ),
    ),
  policy: list(rule, 1, "a list of rules").optional(),
}).optional();

const own = /^(authentication-token-webhook-(config-file|version)|authentication-config)$/;
const ofPolicy = /^authorization-(mode|config|webhook-(config-file|version))$/;

/** Flags of the API server that somebody wrote and that Keystone's webhook needs itself. */
export function besideKeystone({
  keystone: written,
  apiServer,
}: {
  readonly keystone?: z.output<typeof keystone>;
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
