import type { Served } from "./controllers.js";
import { statusOf } from "./statuses.js";
import type { Answer } from "./statuses.js";

/** Returns the API group and the version in a path such as `/apis/apps/v1`. */
const versionAt = (prefix: string): { readonly group: string; readonly version: string } => {
  const [root, first = "", second = ""] = prefix.split("/").slice(1);
  return root === "api" ? { group: "", version: first } : { group: first, version: second };
};

const apiVersionAt = (prefix: string): string => {
  const { group, version } = versionAt(prefix);
  return group === "" ? version : `${group}/${version}`;
};

function groups(served: readonly Served[]): Answer {
  const prefixes = [...new Set(served.map(({ prefix }) => prefix))];
  const named = prefixes.filter((prefix) => versionAt(prefix).group !== "");
  const all = [...new Set(named.map((prefix) => versionAt(prefix).group))].map((name) => {
    const versions = named
      .filter((prefix) => versionAt(prefix).group === name)
      .map((prefix) => ({
        groupVersion: apiVersionAt(prefix),
        version: versionAt(prefix).version,
      }));
    return { name, versions, preferredVersion: versions[0] ?? {} };
  });
  return { code: 200, body: { kind: "APIGroupList", apiVersion: "v1", groups: all } };
}

/**
 * Answers a discovery request. The answer contains the API groups and their versions, or the kinds
 * of one version.
 */
export function discover(path: string, served: readonly Served[]): Answer {
  if (path === "/api") return { code: 200, body: { kind: "APIVersions", versions: ["v1"] } };
  if (path === "/apis") return groups(served);
  const resources = served
    .filter(({ prefix }) => prefix === path)
    .map(({ kind, plural, namespaced }) => ({
      kind,
      namespaced,
      name: plural,
      singularName: kind.toLowerCase(),
      verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    }));
  if (resources.length === 0)
    return statusOf(404, "NotFound", "the server could not find the requested resource");
  const groupVersion = apiVersionAt(path);
  return { code: 200, body: { kind: "APIResourceList", groupVersion, resources } };
}
