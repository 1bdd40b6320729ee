import { z } from "zod";
import { doc, list, pem, present, record, secret, text, truth } from "../arguments/values.js";

const host = text(
  (value) => /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d+)?$/.test(value),
  "is not the host of a registry",
);

const mirror = text(
  (value) => /^https?:\/\/[a-z0-9][a-z0-9.-]*(:\d+)?(\/[\w.~/-]*[\w~-])?$/.test(value),
  "is not the address of a mirror; write one that begins with http and does not end with a slash",
);

const entry = record({
  mirrors: list(mirror, 0, "a list of addresses of mirrors")
    .default([])
    .meta(
      doc(
        "in place",
        "Addresses that are asked before the registry itself, in their order. One with a path is taken as it is, like `https://harbor.example.org/v2/dockerhub`. What a mirror needs to be trusted and signed in to is said under its own host.",
      ),
    ),
  ca: pem
    .optional()
    .meta(
      doc(
        "in place",
        "Certificate of the authority that signed the registry's, in PEM.",
        "the authorities that the image trusts",
      ),
    ),
  user: present("a user")
    .optional()
    .meta(
      doc(
        "in place",
        "Who signs in. containerd restarts on one machine after another; pods go on. A pod's own `imagePullSecrets` come first.",
        "nobody",
      ),
    ),
  password: secret("is missing; write the password, encrypted")
    .optional()
    .meta(
      doc(
        "in place",
        "The user's password or token, encrypted: `pulumi config set --path 'stackadm:cluster.kubernetes.registries[\"<host>\"].password' --secret`. In clear it is refused.",
        "**required** with `user`",
      ),
    ),
  plainHttp: truth().default(false).meta(doc("in place", "The registry speaks HTTP without TLS.")),
}).check(({ value, issues }) => {
  const { user, password, plainHttp, ca } = value;
  const wrong = (key: string, message: string): void => {
    issues.push({ code: "custom", path: [key], input: undefined, message });
  };
  if (user !== undefined && password === undefined)
    wrong("password", "is missing beside user; write the password, encrypted");
  if (user === undefined && password !== undefined)
    wrong("user", "is missing beside password; write who signs in");
  if (plainHttp && ca !== undefined)
    wrong("ca", "is for a registry with TLS, and plainHttp says that it has none; leave one out");
});

/** What containerd has to know of registries, by their hosts. */
export const registries = z
  .record(host, entry, {
    error: ({ code }) =>
      code === "invalid_key"
        ? "is not the host of a registry; write one with its port, if it has one, like registry.example.org:5000"
        : "is not a map of registries; write one like `docker.io: {mirrors: [https://mirror.example.org]}`",
  })
  .meta({ entries: "host" })
  .default({});
