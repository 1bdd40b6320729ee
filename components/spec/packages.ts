import { containerdPackages, upstreamPackages } from "../../base/versions.js";
import { doc, record, text } from "../arguments/values.js";

const fingerprint = text(
  (value) => /^[0-9A-F]{40}$/.test(value),
  "is not a fingerprint; write 40 upper-case hexadecimal digits",
);

/** Whether a text is right once its places, which no host has, are filled: with words that stand as they are. */
const filled = (pattern: RegExp) => (value: string) =>
  !/^https?:\/\/[^/ ]*\{/.test(value) &&
  pattern.test(value.replaceAll(/\{(distribution|codename)\}/g, "x"));

/** Host without a user, and a path: nothing that apt's lists, curl or a shell read in another way than an address. */
const plainAddress = String.raw`https?://[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d+)?(/[\w.~%+:/-]*)?`;

/** Where machines get containerd when nobody else has it. */
const containerd = record({
  source: text(
    filled(new RegExp(String.raw`^${plainAddress} ([\w.+/-]*/|[\w.+/-]*[\w.+-]( [\w.+/-]+)+)$`)),
    `is not a source of apt; write address, suite and components with a space between, like "${containerdPackages.source}", or a slash after the address of a flat repository`,
  )
    .default(containerdPackages.source)
    .meta(
      doc(
        "in place",
        "Apt repository with containerd.io, as a line of sources.list says it: address, suite and components, or `/` after the address of a flat one. A machine asks it for that one package, and apt does not keep it: only where the machine has no containerd 2 and neither `kubernetes.packages.url` nor the distribution offers one. `{distribution}` and `{codename}` become ID and VERSION_CODENAME of the machine's /etc/os-release.",
      ),
    ),
  key: text(
    filled(new RegExp(`^${plainAddress}$`)),
    `is not the address of a key; write one that begins with http, like ${containerdPackages.key}`,
  )
    .default(containerdPackages.key)
    .meta(
      doc(
        "in place",
        "Address of the key that signs it, armored. `{distribution}` and `{codename}` as in `source`.",
      ),
    ),
  keyFingerprint: fingerprint
    .default(containerdPackages.keyFingerprint)
    .meta(
      doc(
        "in place",
        "Fingerprint of that key, of the primary one. Another key is refused, and no other one in the file is trusted.",
      ),
    ),
})
  .check(({ value: { source, key }, issues }) => {
    // Else machines of a site with a mirror would ask Docker for its key.
    if (source !== containerdPackages.source && key === containerdPackages.key)
      issues.push({
        ...{ code: "custom", path: ["key"], input: undefined },
        message: "is missing beside source; write the address of the key that signs it",
      });
  })
  .prefault({});

/** Where machines get their packages. */
export const packages = record({
  url: text(
    (value) => /^https?:\/\/\S+\/$/.test(value),
    "is not the address of a package repository; write one that begins with http and ends with a slash",
  )
    .default(upstreamPackages.url)
    .meta(
      doc(
        "in place",
        "Flat apt repository with kubeadm, kubelet, kubectl, cri-tools, kubernetes-cni and, where a mirror has it too, containerd.io (see `containerd`). `{minor}` becomes the minor version; the signing key is `Release.key` in it. A user and a password in the address (percent-encoded) are sent to that host alone, and only root of a machine can read them there.",
      ),
    ),
  keyFingerprint: fingerprint
    .default(upstreamPackages.keyFingerprint)
    .meta(
      doc("in place", "Fingerprint of the key that signs the repository. Another key is refused."),
    ),
  containerd,
}).prefault({});
