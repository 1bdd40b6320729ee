import {
  describeDocument,
  readManifestDocuments,
  type ManifestDocument,
  type ManifestDocuments,
} from "../../kubernetes-objects/manifest-documents.js";
import { readPinnedFile, type PinnedFileDirectories } from "../../lookup/pinned-files.js";
import type { ArgumentProblem } from "../../pulumi/errors.js";
import type { UserAddon } from "./user-addons.js";

/** Returns the objects of an add-on, or everything that is wrong with its manifest. */
export function readUserAddon(
  { manifest, sha256, yaml = "" }: Pick<UserAddon, "manifest" | "sha256" | "yaml">,
  files?: PinnedFileDirectories,
): ManifestDocuments {
  if (manifest === undefined) return readManifestDocuments(yaml);
  const read = readPinnedFile({ source: manifest, sha256 }, files);
  if ("problem" in read) return { problems: [read.problem] };
  const found = readManifestDocuments(read.text);
  if ("objects" in found) return found;
  const [first, ...more] = found.problems;
  const of = (problem: string): string => `${manifest}: ${problem}`;
  return { problems: [of(first), ...more.map(of)] };
}

/**
 * Returns all problems with the manifests of the user's add-ons: files that cannot be read, texts
 * that are no Kubernetes objects, Secrets in the settings, and objects that occur twice.
 */
export function findUserAddonProblems(
  addons: readonly UserAddon[],
  files?: PinnedFileDirectories,
): readonly ArgumentProblem[] {
  const owners = new Map<string, string>();
  return addons.flatMap((addon, index) => {
    const path = `cluster.addons.${String(index)}.${addon.manifest === undefined ? "yaml" : "manifest"}`;
    const found = readUserAddon(addon, files);
    const wrong =
      "problems" in found
        ? found.problems
        : [
            ...(addon.manifest === undefined ? findSecrets(found.objects) : []),
            ...findRepeated(found.objects, addon.name, owners),
          ];
    return wrong.map((message) => ({ path, message }));
  });
}

/** Refuses Secrets in the settings, where the values would be plain text. */
const findSecrets = (objects: readonly ManifestDocument[]): readonly string[] =>
  objects
    .filter(({ kind }) => kind === "Secret")
    .map(
      (object) =>
        `${describeDocument(object)} would be plain text in the settings; write it in the file of a \`manifest\``,
    );

function findRepeated(
  objects: readonly ManifestDocument[],
  addon: string,
  owners: Map<string, string>,
): readonly string[] {
  return objects.flatMap((object) => {
    const key = `${object.apiVersion} ${describeDocument(object)}`;
    const owner = owners.get(key);
    owners.set(key, owner ?? addon);
    return owner === undefined
      ? []
      : [
          `${describeDocument(object)} is already an object of the add-on ${owner}; write each object once`,
        ];
  });
}
