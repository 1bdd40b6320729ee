import { publishedManifests } from "../../base/versions/pod-network-manifests.js";
import { doc, nonEmptyTextField, strictObject, textField } from "../schema/fields.js";

/**
 * Returns the schema of the option `manifest`, which selects another manifest for a pod network.
 */
export const manifestOptionSchema = (kind: keyof typeof publishedManifests) =>
  strictObject({
    source: nonEmptyTextField("a manifest").meta(
      doc(
        "in place",
        "With `calico` and `canal`: URL of the manifest that is deployed, or its path relative to the project's directory.",
        "the manifest of the release that this program pins",
      ),
    ),
    sha256: textField(
      (value) => /^[0-9a-f]{64}$/.test(value),
      "is not a SHA-256; write 64 hexadecimal digits, as `sha256sum` shows them",
      "write the SHA-256 of the manifest, as `sha256sum` shows it",
    ).meta(
      doc(
        "in place",
        "With `calico` and `canal`: SHA-256 of that manifest. A file with another digest is refused before anything changes.",
        "the digest of that manifest",
      ),
    ),
  }).default(publishedManifests[kind]);
