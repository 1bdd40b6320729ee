import { bastionStep } from "../../../components/access/bastion.js";
import {
  etcdClientCertificateStep,
  etcdQuorumStep,
  etcdMemberStep,
} from "../../../components/etcd/member-scripts.js";
import {
  controlPlaneStep,
  joinStep,
  leaveStep,
  releaseSnapshotsStep,
  teardownStep,
} from "../../../components/kubeadm/node-scripts.js";
import { getPreparationStep } from "../../../components/machine/preparation.js";
import { renderShellAssignments } from "../../../components/remote-scripts/shell-quoting.js";
import type { ScriptStep } from "../../../components/remote-scripts/script-steps.js";
import type { Fields } from "./graph.js";
import { isSecret } from "./secrets.js";

/** Script steps of machines of all roles. */
export const steps: readonly ScriptStep[] = [
  ...[
    bastionStep,
    getPreparationStep({}),
    getPreparationStep({ ipv6: {} }),
    joinStep,
    controlPlaneStep,
  ],
  ...[
    etcdClientCertificateStep,
    leaveStep,
    teardownStep,
    releaseSnapshotsStep,
    etcdMemberStep,
    etcdQuorumStep,
  ],
];

/** Scripts and values that a machine receives for one command of the program. */
export interface Sent {
  readonly step: ScriptStep;
  /** Argument of the scripts: the occasion on which they run, for example `create`. */
  readonly occasion: string;
  /** Values of the scripts, including the values on the standard input. */
  readonly values: Readonly<Record<string, string>>;
}

/** Pattern of a shell word: parts in single quotes, escaped quotes and plain characters. */
const word = "(?:'[^']*'|\\\\'|[^\\s'\\\\])*";

const unquoted = (text: string): string =>
  text.replaceAll(/'([^']*)'|\\'/g, (whole, inner: string | undefined) => inner ?? whole.slice(1));

function assigned(text: string): Record<string, string> {
  const found = text.matchAll(new RegExp(`^ *([A-Z][A-Z0-9_]*)=(${word})`, "gm"));
  return Object.fromEntries(
    [...found]
      .map(([, name = "", value = ""]) => [name, unquoted(value)] as const)
      // Leaves out variables that contain only the digest of a long value. The value itself is in
      // the standard input.
      .filter(([name]) => !name.endsWith("_SHA256")),
  );
}

const clearOf = (value: unknown): string =>
  String(isSecret(value) ? (value as { value: unknown }).value : (value ?? ""));

/**
 * Returns the scripts and values that a machine receives, from the inputs of a script's resource.
 */
export function readSentScript(inputs: Fields): Sent {
  const command = clearOf(inputs["create"] ?? inputs["delete"]);
  const called = / \S+@([0-9a-f]{16}) (\S+)/.exec(command);
  const step = steps.find(({ digest }) => digest === called?.[1]);
  if (!called || !step) throw new Error(`no step of the program: ${command}`);
  const values = {
    ...assigned(command.slice(called.index + called[0].length)),
    ...assigned(clearOf(inputs["stdin"])),
  };
  return { step, occasion: called[2] ?? "", values };
}

/** Returns the values and the scripts that a machine receives, as one shell text. */
export function renderSentScript(inputs: Fields): string {
  const { step, values } = readSentScript(inputs);
  return renderShellAssignments(values) + step.text;
}
