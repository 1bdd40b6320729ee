// Checks the version of Node, then runs a program. This file must run in old versions of Node and
// before packages are installed, so it imports only modules of Node.

const oldestNode = [20, 19];

/** Error with one sentence for the user. `start` prints the sentence and sets exit code 1. */
export class Refusal extends Error {}

export const say = (text) => process.stderr.write(`${text}\n`);

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  const enough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (!enough)
    throw new Refusal(
      `Node ${process.versions.node} is too old: install Node ${oldestNode.join(".")} or newer (20, 22 or 24).`,
    );
}

/** Runs `work` if Node is new enough. Reports every error as a sentence, with exit code 1. */
export async function start(work) {
  try {
    checkNode();
    await work();
  } catch (error) {
    process.exitCode = 1;
    tell(error);
  }
}

/**
 * Reports an error in the same form as session.ts, as text or as a JSON line. session.ts may not be
 * compiled yet.
 */
function tell(error) {
  const foreseen = error instanceof Refusal;
  const said = error.message.replace(/\.?$/, ".");
  const message = foreseen ? error.message : `Unexpected failure: ${said}`;
  const hint = foreseen
    ? "Correct the cause and run the same command again."
    : "Run the same command again; if it fails again, run it with STACKADM_DEBUG=1 and report the output.";
  if (process.argv.includes("--json")) {
    process.stdout.write(`${JSON.stringify({ type: "error", code: "FAILED", message, hint })}\n`);
    return;
  }
  say(`error: ${message}`);
  if (foreseen) return;
  say(`  ${hint}`);
  if (process.env.STACKADM_DEBUG !== undefined) say(error.stack);
}
