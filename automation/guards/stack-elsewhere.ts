import { Failure } from "../../base/failures/failure.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import type { StackOperation } from "../engine/operation-context.js";
import { backendVariable, parseBackendDirectory } from "../pulumi/backend.js";
import { isEmptyStack, readState, type StateExport } from "../pulumi/stack-state.js";
import { listOtherBackends } from "../setup/choose-backend.js";
import { getBackendRule } from "../setup/operation-environment.js";
import {
  describeNamesake,
  describeOtherPlaces,
  findDirectoriesWithStack,
  hasResources,
} from "../setup/stack-places.js";

/*
 * Refuses to work with a new stack while another backend of the user has a stack of this name with
 * resources. See docs/decisions/0070-one-backend-rule.md.
 */

/** Time limit in milliseconds for the answer of another backend. */
const answerMilliseconds = 10_000;

/**
 * Returns whether another backend has the stack. Warns about a backend that does not answer, and
 * returns false for it.
 */
async function hasStack(run: StackOperation, backend: string): Promise<boolean> {
  const { project, stack, access } = run;
  if (parseBackendDirectory(backend) !== undefined)
    return hasResources({ backend, project, stack });
  const other = { ...access, env: { ...access.env, [backendVariable]: backend } };
  return readState(other, answerMilliseconds).then(
    (state) => !isEmptyStack(state),
    () => {
      run.warn(
        `${removeUrlPassword(backend)} does not answer, so it is unknown whether this backend has the stack '${stack}'.`,
      );
      return false;
    },
  );
}

/**
 * Returns why the stack is not in the run's backend, if another backend of the user has it. Call
 * this only if the run's backend does not have the stack.
 */
export async function explainMissingStack(
  run: StackOperation,
): Promise<{ readonly sentence: string; readonly hint: string } | undefined> {
  const { backend, env } = run.service;
  const others = listOtherBackends(backend, getBackendRule(env, run.directory));
  const found = await Promise.all(
    others.map(async (other) => ((await hasStack(run, other)) ? [other] : [])),
  );
  const [first, ...more] = found.flat();
  return first === undefined
    ? undefined
    : describeOtherPlaces(backend, run.stack, [first, ...more]);
}

/**
 * Asks the run's backend. If it does not answer, the error also names a directory that has a stack
 * of this name.
 */
export async function askBackend<T>(run: StackOperation, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "FAILED") throw error;
    const { stack, directory: projectDirectory, service } = run;
    const rule = getBackendRule(service.env, projectDirectory);
    const [place] = findDirectoriesWithStack(service.backend, { rule, stack, projectDirectory });
    if (place === undefined) throw error;
    throw new Failure(error.code, error.sentence, `${error.hint} ${describeNamesake(place)}`);
  }
}

/**
 * Returns the stack's state. Returns undefined if no backend of the user has the stack. Throws if
 * only another backend has the stack.
 */
export async function readStateHere(run: StackOperation): Promise<StateExport | undefined> {
  const state = await askBackend(run, () => readState(run.access));
  if (state === undefined) await requireNotElsewhere(run);
  return state;
}

/** Throws if another backend of the user has the stack, which the run's backend does not have. */
async function requireNotElsewhere(run: StackOperation): Promise<void> {
  const found = await explainMissingStack(run);
  if (found) throw new Failure("STACK_NOT_FOUND", found.sentence, found.hint);
}
