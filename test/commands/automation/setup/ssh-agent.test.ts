import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  readAgentKeys,
  ensureAgent,
  type SshAgent,
} from "../../../../automation/setup/ssh-agent.js";
import { until } from "../../../engine/support/until.js";

/**
 * Returns the processes whose command line contains the socket's folder: the agent and its keeper.
 */
const processesAt = (socket: string): string[] =>
  readdirSync("/proc").filter((entry) => {
    try {
      return (
        /^\d+$/.test(entry) && readFileSync(`/proc/${entry}/cmdline`).includes(dirname(socket))
      );
    } catch {
      return false; // the process has ended
    }
  });

/** Returns the process group, to which Ctrl-C sends its signal. */
const groupOf = (pid: string | number): string | undefined =>
  readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[2];

describe("the SSH agent of the login key", () => {
  let directory: string;
  const agents: SshAgent[] = [];
  const ensure = async (env: NodeJS.ProcessEnv = {}): Promise<SshAgent> => {
    const agent = await ensureAgent(env, join(directory, "ssh", "id_ed25519"));
    agents.push(agent);
    return agent;
  };
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "keys-"));
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
    rmSync(directory, { recursive: true });
  });

  it("starts with a new key of the user if no agent runs", async () => {
    const agent = await ensure();
    assert.equal(agent.foreign, false);
    assert.equal(agent.keys.length, 1);
    assert.match(agent.keys[0] ?? "", /^ssh-ed25519 \S+ stackadm$/);
    const file = join(directory, "ssh", "id_ed25519");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(directory, "ssh")).mode & 0o777, 0o700);
  });

  it("has the same key in the next command", async () => {
    const first = (await ensure()).keys;
    const key = readFileSync(join(directory, "ssh", "id_ed25519"), "utf8");
    assert.deepEqual((await ensure()).keys, first);
    assert.equal(readFileSync(join(directory, "ssh", "id_ed25519"), "utf8"), key);
  });

  it("has the same key in commands that start simultaneously on a new machine", async () => {
    const started = await Promise.all([1, 2, 3, 4].map(() => ensure()));
    const [first] = started;
    for (const { keys } of started) assert.deepEqual(keys, first?.keys);
    assert.deepEqual(readdirSync(join(directory, "ssh")).sort(), ["id_ed25519", "id_ed25519.pub"]);
    const publicKey = readFileSync(join(directory, "ssh", "id_ed25519.pub"), "utf8");
    assert.equal(publicKey.trim(), first?.keys[0]);
  });

  it("stops with its command", async () => {
    const agent = await ensure();
    await agent.close();
    assert.ok(!existsSync(agent.socket));
    assert.deepEqual(await readAgentKeys(agent.socket), []);
    await agent.close();
  });

  describe("in a separate command", function () {
    this.timeout(60_000);
    const module = join(__dirname, "../../../../automation/setup/ssh-agent.ts");
    /**
     * Starts Node, which starts an agent and then runs `then`; returns the process and the agent's
     * socket.
     */
    const start = async (then: string): Promise<{ child: ChildProcess; socket: string }> => {
      const keyFile = join(directory, "ssh", "id_ed25519");
      const program = `
        require(${JSON.stringify(module)}).ensureAgent({}, ${JSON.stringify(keyFile)})
          .then(({ socket }) => { console.log(socket); ${then} });`;
      const child = spawn(process.execPath, ["--import", "tsx", "-e", program], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [said] = (await once(child.stdout, "data")) as [Buffer];
      return { child, socket: said.toString().trim() };
    };
    const isGone = async (socket: string): Promise<void> => {
      await until("the agent is gone", () => processesAt(socket).length === 0, 20);
      assert.deepEqual(await readAgentKeys(socket), []);
      await until("its directory is gone", () => !existsSync(dirname(socket)), 20);
    };

    it("stops after its command is killed with SIGKILL", async () => {
      const { child, socket } = await start("setInterval(() => undefined, 1000);");
      assert.equal((await readAgentKeys(socket)).length, 1);
      assert.notDeepEqual(processesAt(socket), []);
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
      await isGone(socket);
    });

    it("lets its command exit, and then stops", async () => {
      const { child, socket } = await start("");
      if (child.exitCode === null) await once(child, "exit");
      await isGone(socket);
    });

    it("runs in another process group than the terminal's processes, and stops with its command", async () => {
      const { child, socket } = await start("setInterval(() => undefined, 1000);");
      for (const pid of processesAt(socket)) assert.notEqual(groupOf(pid), groupOf(process.pid));
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      await isGone(socket);
    });
  });

  it("reuses a running agent with a key, and leaves it running", async () => {
    const running = await ensure();
    const agent = await ensure({ SSH_AUTH_SOCK: running.socket });
    assert.equal(agent.foreign, true);
    assert.equal(agent.socket, running.socket);
    await agent.close();
    assert.equal((await readAgentKeys(running.socket)).length, 1);
  });

  it("stops if the key cannot be loaded", async () => {
    mkdirSync(join(directory, "ssh"));
    writeFileSync(join(directory, "ssh", "id_ed25519"), "no key", { mode: 0o600 });
    const { TMPDIR } = process.env;
    // Separate directory, because other commands on this machine have agents too.
    process.env["TMPDIR"] = directory;
    try {
      await assert.rejects(ensure(), /ssh-add/);
    } finally {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    }
    const left = readdirSync(directory).filter((name) => name.startsWith("stackadm-agent-"));
    assert.deepEqual(left, []);
  });

  it("starts if the agent of SSH_AUTH_SOCK does not respond", async () => {
    const agent = await ensure({ SSH_AUTH_SOCK: join(directory, "no-agent") });
    assert.equal(agent.foreign, false);
  });
});
