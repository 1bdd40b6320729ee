import { isIdentity } from "../../openstack/inventory/ownership.js";
import type { StateExport, StateResource } from "./stack-state.js";

/*
 * Stores lines of text in the state, in the resource that creates the cluster's identity. A destroy
 * deletes this resource last, so the lines remain until the destroy has finished
 * (docs/decisions/0007-retained-objects.md). Performs no input or output.
 */

/**
 * Returns the cluster's identity and the name of the cluster's component. Returns undefined for
 * resources that do not create an identity.
 */
export function findIdentityAndComponent({
  urn,
  outputs,
}: StateResource): [string, string] | undefined {
  const component = /\$command:local:Command::([^:]*)-identity$/.exec(urn)?.[1];
  const identity = outputs?.["stdout"];
  return component !== undefined && typeof identity === "string" && isIdentity(identity)
    ? [identity, component]
    : undefined;
}

/**
 * Name of the output that stores the lines. The command plugin accepts no additional outputs, so the
 * lines are in the standard error of the command that creates the identity. This command prints no
 * errors. The engine neither compares nor changes this output until it deletes the resource.
 */
const notesOutput = "stderr";

const linesIn = ({ outputs }: StateResource): readonly string[] => {
  const text = outputs?.[notesOutput];
  return typeof text === "string" ? text.split("\n").filter((line) => line !== "") : [];
};

/** Returns the rest of each stored line that begins with the prefix. */
export const readIdentityNotes = (state: StateExport | undefined, prefix: string): string[] =>
  (state?.deployment.resources ?? [])
    .filter((one) => findIdentityAndComponent(one) !== undefined)
    .flatMap(linesIn)
    .filter((line) => line.startsWith(prefix))
    .map((line) => line.slice(prefix.length));

/**
 * Returns a state that stores the lines in every identity, because a stack may drop one of its
 * clusters. Returns the same object if every identity has all lines already.
 */
export function addIdentityNotes(state: StateExport, lines: readonly string[]): StateExport {
  const all = state.deployment.resources ?? [];
  const resources = all.map((one) => {
    const known = new Set(linesIn(one));
    if (!findIdentityAndComponent(one) || lines.every((line) => known.has(line))) return one;
    const text = [...new Set([...known, ...lines])].join("\n");
    return { ...one, outputs: { ...one.outputs, [notesOutput]: text } };
  });
  const same = resources.every((one, index) => one === all[index]);
  return same ? state : { ...state, deployment: { ...state.deployment, resources } };
}
