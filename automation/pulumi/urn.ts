/** Parts of a Pulumi URN: `urn:pulumi:<stack>::<project>::<types joined by $>::<name>`. */
export interface UrnParts {
  readonly stack: string;
  readonly project: string;
  /** Type tokens, from the outermost component to the resource itself. */
  readonly types: readonly string[];
  readonly type: string;
  readonly name: string;
}

export function parseUrn(urn: string): UrnParts {
  const [head = "", project = "", qualified = "", ...name] = urn.split("::");
  const types = qualified.split("$");
  return {
    stack: head.replace(/^urn:pulumi:/, ""),
    project,
    types,
    type: types.at(-1) ?? "",
    // A name may contain "::".
    name: name.join("::"),
  };
}

/** Returns the last part of a type token: `openstack:networking/network:Network` -> `Network`. */
export const getShortType = (type: string): string => type.split(":").at(-1) ?? type;

/** Type of the engine's own provider. Only a run that uses this provider adds it to the state. */
export const pulumiProviderType = "pulumi:providers:pulumi";

export const serverGroupType = "openstack:compute/serverGroup:ServerGroup";
