import { z } from "zod";
import { httpMethods } from "../../../openstack/auth/access-rules.js";
import {
  doc,
  list,
  oneOf,
  nonEmptyTextField,
  strictObject,
  secretField,
  shortValue,
  textField,
  integerField,
} from "../../schema/fields.js";

const secretMissing = "is missing; write the secret of the application credential, encrypted";
const isMoment = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) && !Number.isNaN(Date.parse(value));
const passwordMissing = "is missing; write the password of the user, encrypted";

const noRule = `is no access rule; write controllers, or service, method (${httpMethods.join(", ")}) and path`;

const accessRuleSchema = z.union(
  [
    oneOf(["controllers"]),
    strictObject({
      service: textField(
        (value) => /^[A-Za-z0-9-]{1,64}$/.test(value),
        "is no type of a service; write one of the catalogue's, like compute",
      ),
      method: oneOf(httpMethods),
      path: textField(
        (value) => /^\/.{0,127}$/.test(value),
        "is no path; write at most 128 characters, from / on",
      ),
    }),
  ],
  { error: ({ input }) => `${shortValue(input)} ${noRule}` },
);

const credentialFieldsSchema = strictObject({
  id: nonEmptyTextField("the ID of an application credential")
    .optional()
    .meta(
      doc(
        "in place",
        "ID of an application credential for the cluster's controllers, in the same project and with the roles that they need, for a cloud where the program cannot or must not create one.",
        "the program creates one",
      ),
    ),
  secret: secretField(secretMissing)
    .optional()
    .meta(
      doc(
        "in place",
        "Secret of that credential, encrypted: `pulumi config set --path stackadm:cluster.credential.secret --secret`. Plain text is refused.",
        "the program creates one",
      ),
    ),
  generation: integerField(0, "a generation")
    .optional()
    .meta(
      doc(
        "in place",
        "Raise it to make the program create another credential: the controllers get it one after the other and restart, then the former one is deleted. The user who runs that `up` owns it.",
        "`0`",
      ),
    ),
  expiresAt: textField(isMoment, "is not a moment; write one like 2027-12-31T00:00:00Z")
    .optional()
    .meta(
      doc(
        "in place",
        "Time when the credential expires: Keystone then refuses it, and load balancers and volumes stop working. `up` and `status` warn 30 days before. A changed time makes another credential, as `generation` does.",
        "never",
      ),
    ),
  roles: list(nonEmptyTextField("a role"), 1, "a list of roles")
    .optional()
    .meta(
      doc(
        "in place",
        "Roles of the credential that the program creates, for a cloud that names them differently: the user who runs `up` must have them. The default includes `creator` if a certificate in Barbican is named. An existing credential keeps its roles until `generation` is raised.",
        "`member` and `load-balancer_member`, if you have them; never all of your roles",
      ),
    ),
  accessRules: list(accessRuleSchema, 1, "a list of access rules, or leave it out")
    .optional()
    .meta(
      doc(
        "in place",
        "Access rules that limit the credential that the program creates, even if its roles allow more: `controllers` for the requests of the cluster's controllers, and your own rules with `service`, `method` and `path`. Only for a cloud whose services enforce access rules: others refuse every request of such a credential. Changed rules make another credential, as `generation` does.",
        "no rules: everything that its roles allow",
      ),
    ),
  username: nonEmptyTextField("a user of the cloud")
    .optional()
    .meta(
      doc(
        "in place",
        "Name of a cloud user with which the cluster's controllers sign in to the project, where Keystone has no application credentials or you must not use them. The user needs the controllers' roles in the project; the program does not create, change or delete the user.",
        "an application credential",
      ),
    ),
  userDomainName: nonEmptyTextField("a domain of Keystone")
    .optional()
    .meta(doc("in place", "Name of the domain of that user.", "`Default`")),
  userId: textField((value) => value.trim() !== "", "is no ID; write that of a user of the cloud")
    .optional()
    .meta(
      doc("in place", "ID of that user, instead of `username` and `userDomainName`.", "`username`"),
    ),
  password: secretField(passwordMissing)
    .optional()
    .meta(
      doc(
        "in place",
        "Password of that user, encrypted: `pulumi config set --path stackadm:cluster.credential.password --secret`. Plain text is refused. After a change the controllers restart one after the other.",
        "an application credential",
      ),
    ),
});

type Written = z.output<typeof credentialFieldsSchema>;
type Key = keyof Written;

/** Key of `credentialSchema` and the error message for it. */
type Wrong = readonly [key: Key, sentence: string];

/** Returns those keys of `sentences` that the user wrote, each with its error message. */
const wrongIn = (of: Written, sentences: Partial<Record<Key, string>>): Wrong[] =>
  (Object.entries(sentences) as [Key, string][]).filter(([key]) => of[key] !== undefined);

/**
 * Returns the error messages for keys that apply only to a credential that the program creates.
 * `instead` names the kind of login that the user wrote.
 */
const notMade = (instead: string): Partial<Record<Key, string>> => {
  const sentence = `is for the credential that the program creates, and ${instead}; leave`;
  return {
    generation: `${sentence} it out`,
    ...both(["roles", "accessRules"], `${sentence} them out`),
  };
};

const both = (keys: readonly Key[], sentence: string): Partial<Record<Key, string>> =>
  Object.fromEntries(keys.map((key) => [key, sentence]));

const userKeys = ["username", "userDomainName", "userId", "password"] as const;

/**
 * Returns whether the cluster's controllers sign in as a user instead of an application credential.
 */
const isUser = (of: Written): boolean => userKeys.some((key) => of[key] !== undefined);

/** Returns whether the user supplies a credential or a login. The program then creates none. */
export const isCredentialSupplied = (of: Written = {}): boolean =>
  of.id !== undefined || isUser(of);

const wrongWithUser = (of: Written): Wrong[] => {
  const { id, username, userId, password } = of;
  const named = `credential.${userId === undefined ? "username" : "userId"} names a user`;
  const other = `is for an application credential, and ${named}; leave one of them out`;
  const byId = "belongs to the name of a user, and credential.userId is set; leave it out";
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
        "is for an application credential, and Keystone reports when a password ends; leave it out",
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

/**
 * Login of the cluster's controllers in OpenStack: an application credential that the program
 * creates, an application credential that the user supplies, or a Keystone user with a password.
 */
export const credentialSchema = credentialFieldsSchema
  .superRefine((of, context) => {
    const wrong = isUser(of) ? wrongWithUser(of) : wrongWithCredential(of);
    for (const [key, message] of wrong)
      context.addIssue({ code: "custom", path: [key], input: of[key], message });
  })
  .optional();
