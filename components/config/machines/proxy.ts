import { doc, list, strictObject, secretField, textField } from "../../schema/fields.js";

/**
 * Returns whether the value is the URL of a proxy. Refuses characters that have a special meaning
 * in configuration files of shells, systemd, apt and curl.
 */
const isProxy = (value: string): boolean =>
  /^https?:\/\/([\w.~!*+%=:-]+@)?[a-z0-9[][a-z0-9.:\]-]*\/?$/i.test(value);

const address = () =>
  secretField(
    "is not the address of a proxy; write one like http://proxy.example.org:3128, and special characters of user and password as % and two digits",
    isProxy,
  ).optional();

const cost =
  "containerd restarts on one machine after another; pods continue. With a user and password it is a secret, and refused in plain text: `pulumi config set --path stackadm:cluster.network.proxy";

/** Proxy through which machines reach hosts outside the cluster. */
export const proxySchema = strictObject({
  http: address().meta(
    doc(
      "in place",
      `Proxy for packages and images that machines fetch over HTTP. ${cost}.http --secret\`.`,
    ),
  ),
  https: address().meta(
    doc(
      "in place",
      `Proxy for what machines fetch over HTTPS, usually the same. ${cost}.https --secret\`.`,
    ),
  ),
  noProxy: list(
    textField(
      (value) => /^[\w.*:/[\]-]+$/.test(value),
      "is not a name, a domain like .example.org, an address or a range",
    ),
    0,
    "a list of hosts, domains, addresses and ranges",
  )
    .default([])
    .meta(
      doc(
        "in place",
        "Additional hosts, domains (`.example.org`), addresses and ranges that are reached without the proxy: registries and package repositories of the site. The machine itself, the metadata service, the ranges of `network`, the cluster's domain and its API are always included.",
      ),
    ),
})
  .check(({ value, issues }) => {
    if (value.http === undefined && value.https === undefined)
      issues.push({
        code: "custom",
        path: ["https"],
        input: undefined,
        message: "is missing, and http is too; write one of them, or leave proxy out",
      });
  })
  .optional();
