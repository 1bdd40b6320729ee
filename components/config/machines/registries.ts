import { z } from "zod";
import {
  doc,
  list,
  pemField,
  nonEmptyTextField,
  strictObject,
  secretField,
  textField,
  booleanField,
} from "../../schema/fields.js";

const host = textField(
  (value) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?$/.test(value),
  "is not the host of a registry",
);

const mirror = textField(
  (value) => /^https?:\/\/[a-z0-9][a-z0-9.-]*(:\d+)?(\/[\w.~/-]*[\w~-])?$/.test(value),
  "is not the address of a mirror; write one that begins with http and does not end with a slash",
);

const registrySchema = strictObject({
  mirrors: list(mirror, 0, "a list of addresses of mirrors")
    .default([])
    .meta(
      doc(
        "in place",
        "Addresses of mirrors, used in this order before the registry itself. An address with a path is used without a change, like `https://harbor.example.org/v2/dockerhub`. Certificate and login of a mirror are set in an entry for the mirror's own host.",
      ),
    ),
  ca: pemField
    .optional()
    .meta(
      doc(
        "in place",
        "CA certificate that signed the registry's certificate, in PEM.",
        "the CAs that the image trusts",
      ),
    ),
  user: nonEmptyTextField("a user")
    .optional()
    .meta(
      doc(
        "in place",
        "User name for the registry. After a change, containerd restarts on one machine after another; pods continue. A pod's own `imagePullSecrets` take precedence.",
        "no login",
      ),
    ),
  password: secretField("is missing; write the password, encrypted")
    .optional()
    .meta(
      doc(
        "in place",
        "The user's password or token, encrypted: `pulumi config set --path 'stackadm:cluster.kubernetes.registries[\"<host>\"].password' --secret`. Plain text is refused.",
        "**required** with `user`",
      ),
    ),
  plainHttp: booleanField()
    .default(false)
    .meta(doc("in place", "Whether the registry uses HTTP without TLS.")),
}).check(({ value, issues }) => {
  const { user, password, plainHttp, ca } = value;
  const wrong = (key: string, message: string): void => {
    issues.push({ code: "custom", path: [key], input: undefined, message });
  };
  if (user !== undefined && password === undefined)
    wrong("password", "is missing, although user is set; write the password, encrypted");
  if (user === undefined && password !== undefined)
    wrong("user", "is missing, although password is set; write who signs in");
  if (plainHttp && ca !== undefined)
    wrong("ca", "is for a registry with TLS, and plainHttp says that it has none; leave one out");
});

/**
 * Mirrors, certificates and logins of container registries for containerd, by the registry's host.
 */
export const registriesSchema = z
  .record(host, registrySchema, {
    error: ({ code }) =>
      code === "invalid_key"
        ? "is not the host of a registry; write one with its port, if it has one, like registry.example.org:5000"
        : "is not a map of registries; write one like `docker.io: {mirrors: [https://mirror.example.org]}`",
  })
  .meta({ entries: "host" })
  .default({});
