import {
  containerdPackageRepository,
  kubernetesPackageRepository,
} from "../../../base/versions/pinned-versions.js";
import { doc, integerField, strictObject, textField } from "../../schema/fields.js";

const fingerprint = textField(
  (value) => /^[0-9A-F]{40}$/.test(value),
  "is not a fingerprint; write 40 upper-case hexadecimal digits",
);

/**
 * Returns a function that tests a text with the placeholders `{distribution}` and `{codename}`. The
 * function replaces the placeholders by a word and matches the result against `pattern`. The
 * function refuses placeholders in the host name.
 */
const filled = (pattern: RegExp) => (value: string) =>
  !/^https?:\/\/[^/ ]*\{/.test(value) &&
  pattern.test(value.replaceAll(/\{(distribution|codename)\}/g, "x"));

/**
 * Pattern of a URL without user and query. The pattern matches no character with a special meaning
 * in apt's lists of sources, in curl or in a shell.
 */
const plainAddress = String.raw`https?://[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d+)?(/[\w.~%+:/-]*)?`;

/**
 * Apt repository and generation of containerd. Machines use the repository only if they find no
 * suitable containerd in their other repositories.
 */
const containerdSchema = strictObject({
  source: textField(
    filled(new RegExp(String.raw`^${plainAddress} ([\w.+/-]*/|[\w.+/-]*[\w.+-]( [\w.+/-]+)+)$`)),
    `is not a source of apt; write address, suite and components with a space between, like "${containerdPackageRepository.source}", or a slash after the address of a flat repository`,
  )
    .default(containerdPackageRepository.source)
    .meta(
      doc(
        "in place",
        "Apt repository with containerd.io, in the form of a line of sources.list: address, suite and components, or `/` after the address of a flat repository. A machine uses it for this one package, and apt does not keep it: only if neither `kubernetes.packages.url` nor the distribution offers a suitable containerd. `{distribution}` and `{codename}` become ID and VERSION_CODENAME of the machine's /etc/os-release.",
      ),
    ),
  key: textField(
    filled(new RegExp(`^${plainAddress}$`)),
    `is not the address of a key; write one that begins with http, like ${containerdPackageRepository.key}`,
  )
    .default(containerdPackageRepository.key)
    .meta(
      doc(
        "in place",
        "Address of the key that signs this repository, armored. `{distribution}` and `{codename}` as in `source`.",
      ),
    ),
  keyFingerprint: fingerprint
    .default(containerdPackageRepository.keyFingerprint)
    .meta(
      doc(
        "in place",
        "Fingerprint of that primary key. Another key is refused, and further keys in the file are not trusted.",
      ),
    ),
  generation: integerField(0, "a generation")
    .default(0)
    .meta(
      doc(
        "in place",
        "Raise it to install the newest allowed build of containerd, and of runc, on the existing machines: one machine after another is drained, changed and made schedulable again. An upgrade of Kubernetes does the same. With 0, containerd changes only in such an upgrade.",
      ),
    ),
})
  .check(({ value: { source, key }, issues }) => {
    // Without this check, machines that use a mirror as `source` would still download the key from
    // Docker's default URL.
    if (source !== containerdPackageRepository.source && key === containerdPackageRepository.key)
      issues.push({
        code: "custom",
        path: ["key"],
        input: undefined,
        message:
          "is missing, although source is set; write the address of the key that signs the repository",
      });
  })
  .prefault({});

/** Repositories of the machines' packages. */
export const packagesSchema = strictObject({
  url: textField(
    (value) => /^https?:\/\/\S+\/$/.test(value),
    "is not the address of a package repository; write one that begins with http and ends with a slash",
  )
    .default(kubernetesPackageRepository.url)
    .meta(
      doc(
        "in place",
        "Flat apt repository with kubeadm, kubelet, kubectl, cri-tools, kubernetes-cni and, if a mirror has it too, containerd.io (see `containerd`). `{minor}` becomes the minor version; the signing key is `Release.key` in it. A user and a password in the address (percent-encoded) are sent to that host only, and only root of a machine can read them there.",
      ),
    ),
  keyFingerprint: fingerprint
    .default(kubernetesPackageRepository.keyFingerprint)
    .meta(
      doc("in place", "Fingerprint of the key that signs the repository. Another key is refused."),
    ),
  containerd: containerdSchema,
}).prefault({});
