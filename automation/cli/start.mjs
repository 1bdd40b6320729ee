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
    if (error instanceof Refusal) say(`error: ${error.message}`);
    else {
      // In the words of session.ts, which may not be compiled yet.
      say(`error: This was not foreseen: ${error.message.replace(/\.?$/, ".")}`);
      say(
        "  Run the same command again; if that does not help, run it with STACKADM_DEBUG=1 and report what it shows.",
      );
      if (process.env.STACKADM_DEBUG !== undefined) say(error.stack);
    }
  }
}
