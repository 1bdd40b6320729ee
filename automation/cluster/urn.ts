/** The parts of a Pulumi URN: `urn:pulumi:<stack>::<project>::<types joined by $>::<name>`. */
export interface UrnParts {
  readonly stack: string;
  readonly project: string;
  /** Type tokens from the outermost component to the resource itself. */
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
    // A name may hold "::" itself.
    name: name.join("::"),
  };
}

/** `openstack:networking/network:Network` -> `Network`; for people. */
export const shortType = (type: string): string => type.split(":").at(-1) ?? type;

/** The engine's own provider: there after a run that asked it for the state, gone after the next one that did not. */
export const ownProvider = "pulumi:providers:pulumi";

export const serverGroupType = "openstack:compute/serverGroup:ServerGroup";
