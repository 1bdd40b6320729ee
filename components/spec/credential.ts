import { z } from "zod";
import { methods } from "../../cloud/access-rules.js";
import {
  doc,
  list,
  oneOf,
  present,
  record,
  secret,
  shown,
  text,
  whole,
} from "../arguments/values.js";

const secretMissing = "is missing; write the secret of the application credential, encrypted";
const isMoment = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value));
const notMade = "is of the credential that the program makes, and credential.id names another";

const noRule = `is no access rule; write controllers, or service, method (${methods.join(", ")}) and path`;

const accessRule = z.union(
  [
    oneOf(["controllers"]),
    record({
      service: text(
        (value) => /^[A-Za-z0-9-]{1,64}$/.test(value),
        "is no type of a service; write one of the catalogue's, like compute",
      ),
      method: oneOf(methods),
      path: text(
        (value) => /^\/.{0,127}$/.test(value),
        "is no path; write at most 128 characters, from / on",
      ),
    }),
  ],
  { error: ({ input }) => `${shown(input)} ${noRule}` },
);

/** With what the cluster's controllers work in the cloud: a credential that the program makes, or one that is supplied. */
export const credential = record({
  id: present("the ID of an application credential")
    .optional()
    .meta(
      doc(
        "in place",
        "ID of an application credential for the cluster's controllers, in the project and with the roles that they need, where the program cannot or must not make one.",
        "the program makes one",
      ),
    ),
  secret: secret(secretMissing)
    .optional()
    .meta(
      doc(
        "in place",
        "Its secret, encrypted: `pulumi config set --path stackadm:cluster.credential.secret --secret`. In clear it is refused.",
        "the program makes one",
      ),
    ),
  generation: whole(0, "a generation")
    .optional()
    .meta(
      doc(
        "in place",
        "Raise it to have the program make another credential: the controllers get it one after the other and restart, then the former one is deleted. Whoever runs that `up` is its owner.",
        "`0`",
      ),
    ),
  expiresAt: text(isMoment, "is not a moment; write one like 2027-12-31T00:00:00Z")
    .optional()
    .meta(
      doc(
        "in place",
        "When the credential ends: Keystone then refuses it, and there are neither load balancers nor volumes any more. `up` and `status` warn 30 days before. Another moment makes another credential, as `generation` does.",
        "never",
      ),
    ),
  roles: list(present("a role"), 1, "a list of roles")
    .optional()
    .meta(
      doc(
        "in place",
        "Roles of the credential that the program makes, for a cloud that calls them otherwise: whoever runs `up` must have them. By default `creator`, too, where a certificate in Barbican is named. One that is there keeps its roles until `generation` is raised.",
        "`member` and `load-balancer_member`, as far as you have them; never all of yours",
      ),
    ),
  accessRules: list(accessRule, 1, "a list of access rules, or leave it out")
    .optional()
    .meta(
      doc(
        "in place",
        "All that the credential that the program makes may be used for, whatever its roles allow: `controllers` for what the cluster's controllers ask of the cloud, and rules of your own with `service`, `method` and `path`. Only for a cloud whose services enforce access rules: others refuse such a credential everything. Other rules make another credential, as `generation` does.",
        "none: whatever its roles allow",
      ),
    ),
})
  .superRefine(({ id, secret: itsSecret, generation, roles, accessRules }, context) => {
    const issue = (path: string, input: unknown, message: string): void => {
      context.addIssue({ code: "custom", path: [path], input, message });
    };
    if (id !== undefined && itsSecret === undefined) issue("secret", itsSecret, secretMissing);
    if (id === undefined && itsSecret !== undefined)
      issue("id", id, "is missing; write the ID of the application credential");
    if (id !== undefined && generation !== undefined)
      issue("generation", generation, `${notMade}; leave it out`);
    if (id !== undefined && roles !== undefined)
      issue("roles", roles, `${notMade}; leave them out`);
    if (id !== undefined && accessRules !== undefined)
      issue("accessRules", accessRules, `${notMade}; leave them out`);
  })
  .optional();
