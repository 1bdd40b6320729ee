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
const passwordMissing = "is missing; write the password of the user, encrypted";

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

const written = record({
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
  username: present("a user of the cloud")
    .optional()
    .meta(
      doc(
        "in place",
        "Name of a user of the cloud as whom the cluster's controllers sign in to the project, where Keystone has no application credentials or you must not use them. The user has the roles there that the controllers need, and is neither made, changed nor deleted.",
        "an application credential",
      ),
    ),
  userDomainName: present("a domain of Keystone")
    .optional()
    .meta(doc("in place", "Name of the domain of that user.", "`Default`")),
  userId: text((value) => value.trim() !== "", "is no ID; write that of a user of the cloud")
    .optional()
    .meta(
      doc("in place", "ID of that user, instead of `username` and `userDomainName`.", "`username`"),
    ),
  password: secret(passwordMissing)
    .optional()
    .meta(
      doc(
        "in place",
        "The password of that user, encrypted: `pulumi config set --path stackadm:cluster.credential.password --secret`. In clear it is refused. With another one the controllers restart one after the other.",
        "an application credential",
      ),
    ),
});

type Written = z.output<typeof written>;
type Key = keyof Written;

/** A key, and what is wrong with it. */
type Wrong = readonly [key: Key, sentence: string];

/** Of keys that cannot stand beside another one those that are written, each with its sentence. */
const wrongIn = (of: Written, sentences: Partial<Record<Key, string>>): Wrong[] =>
  (Object.entries(sentences) as [Key, string][]).filter(([key]) => of[key] !== undefined);

/** What is only of a credential that the program makes. */
const notMade = (instead: string): Partial<Record<Key, string>> => {
  const sentence = `is of the credential that the program makes, and ${instead}; leave`;
  return {
    generation: `${sentence} it out`,
    ...both(["roles", "accessRules"], `${sentence} them out`),
  };
};

const both = (keys: readonly Key[], sentence: string): Partial<Record<Key, string>> =>
  Object.fromEntries(keys.map((key) => [key, sentence]));

const userKeys = ["username", "userDomainName", "userId", "password"] as const;

/** Whether the cluster's controllers sign in as a user. */
const isUser = (of: Written): boolean => userKeys.some((key) => of[key] !== undefined);

/** Whether the program makes no credential, since one or a user is supplied. */
export const isSupplied = (of: Written = {}): boolean => of.id !== undefined || isUser(of);

const wrongWithUser = (of: Written): Wrong[] => {
  const { id, username, userId, password } = of;
  const named = `credential.${userId === undefined ? "username" : "userId"} names a user`;
  const other = `is of an application credential, and ${named}; leave one of them out`;
  const byId = "is of the name of a user, and credential.userId is their ID; leave it out";
  return [
    ...(username === undefined && userId === undefined
      ? [["username", "is missing; write the name of the user, or userId"] as const]
      : []),
    ...(password === undefined ? [["password", passwordMissing] as const] : []),
    ...wrongIn(of, {
      ...(userId !== undefined && both(["username", "userDomainName"], byId)),
      ...both([id === undefined ? "secret" : "id"], other),
      ...notMade(`${named} instead`),
      expiresAt:
        "is the end of an application credential, and that of a password Keystone says; leave it out",
    }),
  ];
};

const wrongWithCredential = (of: Written): Wrong[] => {
  const { id, secret: itsSecret } = of;
  if (id === undefined)
    return wrongIn(of, { secret: "" }).map(() => [
      "id",
      "is missing; write the ID of the application credential",
    ]);
  return [
    ...(itsSecret === undefined ? [["secret", secretMissing] as const] : []),
    ...wrongIn(of, notMade("credential.id names another")),
  ];
};

/** With what the cluster's controllers work in the cloud: a credential that the program makes, one that is supplied, or a user. */
export const credential = written
  .superRefine((of, context) => {
    const wrong = isUser(of) ? wrongWithUser(of) : wrongWithCredential(of);
    for (const [key, message] of wrong)
      context.addIssue({ code: "custom", path: [key], input: of[key], message });
  })
  .optional();
