import { removeUrlPassword } from "../../base/url-passwords.js";
import { parseBackendDirectory } from "../pulumi/backend.js";
import { readProjectFile } from "../pulumi/project-files.js";
import { readCheckpoint, type StackPlace } from "../pulumi/pulumi-internals.js";
import { isEmptyStack, stateExportSchema } from "../pulumi/stack-state.js";
import {
  listOtherBackends,
  renderBackendExport,
  type BackendRuleOptions,
} from "./choose-backend.js";

/*
 * Finds a stack in the backends that the rule for the backend did not choose. A state never moves by
 * itself: a command names the backend that has the stack.
 */

/** Returns whether a directory has the stack, also without resources. */
function hasCheckpoint(place: StackPlace): boolean {
  try {
    return readCheckpoint(place) !== undefined;
  } catch {
    return true;
  }
}

/**
 * Returns whether a directory has the stack with resources. A checkpoint that cannot be read counts
 * as resources.
 */
export function hasResources(place: StackPlace): boolean {
  try {
    const deployment = readCheckpoint(place);
    if (deployment === undefined) return false;
    return !isEmptyStack(stateExportSchema.parse({ version: 3, deployment }));
  } catch {
    return true;
  }
}

interface StackSearch {
  readonly rule: BackendRuleOptions;
  readonly stack: string;
  readonly projectDirectory: string;
}

/** Returns the URLs of the other backends that are directories and have the stack. */
export function findDirectoriesWithStack(
  backend: string,
  { rule, stack, projectDirectory }: StackSearch,
): string[] {
  const { name: project } = readProjectFile(projectDirectory);
  return listOtherBackends(backend, rule).filter((other) =>
    hasResources({ backend: other, project, stack }),
  );
}

/**
 * Returns a sentence and the next step if other directories have the stack, but the chosen directory
 * does not. Reads files only, so returns undefined if the chosen backend is not a directory.
 */
export function explainMissingStackFile(
  backend: string,
  search: StackSearch,
): ReturnType<typeof describeOtherPlaces> | undefined {
  const { name: project } = readProjectFile(search.projectDirectory);
  const place = { backend, project, stack: search.stack };
  if (parseBackendDirectory(backend) === undefined || hasCheckpoint(place)) return undefined;
  const [first, ...more] = findDirectoriesWithStack(backend, search);
  return first === undefined
    ? undefined
    : describeOtherPlaces(backend, search.stack, [first, ...more]);
}

/** Returns a sentence about a backend that has a stack of the same name. */
export const describeNamesake = (place: string): string =>
  `A stack with this name is in ${removeUrlPassword(place)}; to use that stack, run \`${renderBackendExport(place)}\`.`;

/** Page about the move of a stack. The package contains the page under the same path. */
const movePage = "docs/team/share-a-stack.md#move-an-existing-stack-to-a-shared-backend";

/** Returns a sentence that names the backends with the stack, and the next step of the user. */
export function describeOtherPlaces(
  backend: string,
  stack: string,
  [first, ...more]: readonly [string, ...string[]],
): { readonly sentence: string; readonly hint: string } {
  const places = [first, ...more].map(removeUrlPassword).join(" and ");
  return {
    sentence: `The backend ${removeUrlPassword(backend)} has no stack '${stack}', but ${places} has it.`,
    hint: `To use that stack, run \`${renderBackendExport(first)}\`. To move it, see ${movePage}. To create another cluster under this name, first run \`pulumi stack init ${stack}\`.`,
  };
}
