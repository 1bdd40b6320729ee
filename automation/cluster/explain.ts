import { ClusterError, type ErrorCode, type ErrorSubject } from "./cluster-error.js";
import type { ClusterEvent } from "./events.js";
import { parseUrn, shortType } from "./urn.js";

interface Explanation {
  readonly code: ErrorCode;
  readonly matches: RegExp;
  /** `$1` is the first group of the match; `{who}` the resource. */
  readonly sentence: string;
  readonly hint: string;
}

/** What engine and providers say, and what it means. The first that fits is taken. */
const explanations: readonly Explanation[] = [
  {
    // Our program's own sentence names the machine.
    code: "HOST_KEY_MISMATCH",
    matches: /answers with another host key/i,
    sentence: "{message}",
    hint: "Nothing was sent to it.",
  },
  {
    code: "HOST_KEY_MISMATCH",
    matches: /host key mismatch|knownhosts: key|ssh: host key|host key .*(refused|differ|not the)/i,
    sentence: "{who}: the machine answers with another host key than the one it was given.",
    hint: "Someone may be in between, or the machine was reinstalled by hand. Nothing was sent to it. Replace the machine if you know why.",
  },
  {
    code: "SSH_KEY_REFUSED",
    matches: /unable to authenticate|no supported methods remain|permission denied \(publickey/i,
    sentence: "{who}: the machine refuses the login key.",
    hint: "Load the key that the stack uses into ssh-agent: `ssh-add -l` shows what is there.",
  },
  {
    code: "QUOTA_EXCEEDED",
    matches: /quota exceeded[^\n]*|exceeded[^\n]*quota[^\n]*|OverQuota[^\n]*|OverLimit[^\n]*/i,
    sentence: "{who}: the project's quota is used up ($0).",
    hint: "`npx stackadm doctor` shows limits and use; ask for more or delete something, then run the same command again.",
  },
  {
    code: "AUTH_FAILED",
    matches: /Authentication failed|requires authentication|401[^\n]*(Unauthorized|identity)/i,
    sentence: "The cloud refused the credentials.",
    hint: "Check clouds.yaml or the OS_* variables; `npx stackadm doctor` tries them.",
  },
  {
    // Our program's own sentence names the machine and carries its console.
    code: "SERVER_NEVER_BOOTED",
    matches: /never answered on SSH/i,
    sentence: "{message}",
    hint: "Run the same command again: the machine will be replaced.",
  },
  {
    // Our program's own sentence, with Nova's fault.
    code: "SERVER_ERROR",
    matches: /^Nova could not make the machine/,
    sentence: "{message}",
    hint: "Run the same command again: the machine will be replaced.",
  },
  {
    code: "SERVER_ERROR",
    matches:
      /unexpected state 'ERROR'[^\n]*|No valid host[^\n]*|instance[^\n]*in error state[^\n]*|went (?:in)?to ERROR[^\n]*/i,
    sentence: "{who}: Nova could not make the machine ($0).",
    hint: "Run the same command again: the machine will be replaced.",
  },
  {
    code: "NOT_FOUND",
    matches:
      /(?:Unable to find|Could not find|No) (flavor|image|network)[^\n]*|(?:flavor|image|network)[^\n]*not found[^\n]*|returned no results[^\n]*/i,
    sentence: "{who}: $0",
    hint: "`npx stackadm doctor` lists what the cloud has.",
  },
  {
    code: "NAME_OCCUPIED",
    matches: /already exists[^\n]*|AlreadyExists[^\n]*|Key pair '[^']*' already/i,
    sentence: "{who}: something of this name is already there.",
    hint: "`npx stackadm orphans` shows what an earlier cluster of this name left; or choose another name.",
  },
  {
    code: "LOAD_BALANCER_ERROR",
    matches: /loadbalancer[^\n]*ERROR[^\n]*|load balancer[^\n]*(?:ERROR|not created)[^\n]*/i,
    sentence: "{who}: the load balancer did not come up ($0).",
    hint: "Run the same command again; if it stays, look at it with `openstack loadbalancer show`.",
  },
  {
    code: "KUBERNETES_UNREACHABLE",
    matches:
      /configured Kubernetes cluster is unreachable[^\n]*|unable to load schema information[^\n]*/i,
    sentence: "{who}: the Kubernetes API does not answer.",
    hint: "`npx stackadm status` shows the machines. If the cluster is gone for good, delete what it left: `npx stackadm orphans --delete`.",
  },
  {
    code: "SSH_UNREACHABLE",
    matches:
      /after \d+ failed attempts[^\n]*|dial tcp[^\n]*|connect(?:ion)?:? (?:refused|timed out)[^\n]*|i\/o timeout/i,
    sentence: "{who}: the machine cannot be reached by SSH ($0).",
    hint: "Is your address in allowedCidrs, and does the machine run? `npx stackadm status` shows it. Then run the same command again.",
  },
  {
    code: "NOT_READY",
    matches: /timed out waiting[^\n]*|timeout[^\n]*waiting[^\n]*|not ready[^\n]*/i,
    sentence: "{who}: it did not become ready in time ($0).",
    hint: "Run the same command again: it goes on where it stopped.",
  },
  {
    code: "INVALID_CONFIG",
    matches: /is not valid:|Missing required configuration variable[^\n]*/i,
    sentence: "{message}",
    hint: "Correct the stack file and run the same command again; nothing was changed.",
  },
  {
    code: "COMMAND_FAILED",
    matches: /Process exited with status (\d+)|exit status (\d+)/i,
    sentence: "{who}: the script on the machine failed ({lastLine}).",
    hint: "Its output is above. Run the same command again: scripts go on where they stopped.",
  },
];

const lastLine = (text: string): string =>
  text
    .trim()
    .split("\n")
    .filter((line) => !/Process exited|exit status/.test(line))
    .at(-1)
    ?.trim()
    .slice(0, 200) ?? "";

function who(urn: string): string {
  if (urn === "") return "The program";
  const { name, type } = parseUrn(urn);
  return type === "pulumi:pulumi:Stack" ? "The program" : `${shortType(type)} '${name}'`;
}

function fill(explanation: Explanation, urn: string, text: string): string {
  const match = explanation.matches.exec(text);
  return explanation.sentence
    .replaceAll("{who}", who(urn))
    .replaceAll("{message}", text.trim())
    .replaceAll("{lastLine}", lastLine(text))
    .replaceAll(/\$(\d)/g, (_, group: string) => (match?.[Number(group)] ?? "").trim());
}

/** What one error message of the engine means. */
export function explainMessage(urn: string, text: string): ClusterError {
  const subject: ErrorSubject = urn === "" ? {} : { urn, resource: parseUrn(urn).name };
  const found = explanations.find(({ matches }) => matches.test(text));
  if (!found)
    return new ClusterError(
      "FAILED",
      `${who(urn)}: ${text.trim().slice(0, 600)}`,
      "Run the same command again: it goes on where it stopped.",
      subject,
    );
  return new ClusterError(found.code, fill(found, urn, text), found.hint, subject);
}

/** Messages that only say that there were others. */
const echo =
  /^(update|preview|destroy|refresh) failed$|resource (?:creation|update|deletion) failed|One or more errors occurred|error: (update|preview) failed/i;

/** Causes before consequences: the table is in that order, with our program's own sentences first. */
function rank(text: string): number {
  const index = explanations.findIndex(({ matches }) => matches.test(text));
  return index < 0 ? explanations.length : index;
}

/**
 * The engine's error messages, each with what it means, the one to show first; echoes of others left out when there are
 * others.
 */
export function explainAll(events: readonly ClusterEvent[]): ClusterError[] {
  const errors = events.flatMap((event) =>
    event.type === "message" && event.severity === "error" ? [event] : [],
  );
  const own = errors.filter(({ text }) => !echo.test(text.trim()));
  return [...(own.length > 0 ? own : errors)]
    .sort((a, b) => rank(a.text) - rank(b.text))
    .map(({ urn, text }) => explainMessage(urn, text));
}
