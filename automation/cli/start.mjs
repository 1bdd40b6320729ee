// How a process begins before anything is installed or compiled: uses nothing but Node, also an old one.

const oldestNode = [20, 19];

/** What ends a start with one sentence. */
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

/** Does the work under a Node that is new enough; whatever fails is a sentence and exit code 1. */
export async function start(work) {
  try {
    checkNode();
    await work();
  } catch (error) {
    process.exitCode = 1;
    tell(error);
  }
}

/** In the words of session.ts, which may not be compiled yet: to people, or as a line for the program that reads. */
function tell(error) {
  const foreseen = error instanceof Refusal;
  const said = error.message.replace(/\.?$/, ".");
  const message = foreseen ? error.message : `This was not foreseen: ${said}`;
  const hint = foreseen
    ? "Correct that and run the same command again."
    : "Run the same command again; if that does not help, run it with STACKADM_DEBUG=1 and report what it shows.";
  if (process.argv.includes("--json")) {
    process.stdout.write(`${JSON.stringify({ type: "error", code: "FAILED", message, hint })}\n`);
    return;
  }
  say(`error: ${message}`);
  if (foreseen) return;
  say(`  ${hint}`);
  if (process.env.STACKADM_DEBUG !== undefined) say(error.stack);
}
