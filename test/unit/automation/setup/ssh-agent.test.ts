import assert from "node:assert/strict";
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
import { join } from "node:path";
import { agentKeys, ensureAgent, type Agent } from "../../../../automation/setup/ssh-agent.js";

describe("the login key's agent", () => {
  let directory: string;
  const agents: Agent[] = [];
  const ensure = async (env: NodeJS.ProcessEnv = {}): Promise<Agent> => {
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

  it("is one of ours when there is none, with a key of the user's own", async () => {
    const agent = await ensure();
    assert.equal(agent.foreign, false);
    assert.equal(agent.keys.length, 1);
    assert.match(agent.keys[0] ?? "", /^ssh-ed25519 \S+ stackadm$/);
    const file = join(directory, "ssh", "id_ed25519");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(directory, "ssh")).mode & 0o777, 0o700);
  });

  it("holds the same key the next time", async () => {
    const first = (await ensure()).keys;
    const key = readFileSync(join(directory, "ssh", "id_ed25519"), "utf8");
    assert.deepEqual((await ensure()).keys, first);
    assert.equal(readFileSync(join(directory, "ssh", "id_ed25519"), "utf8"), key);
  });

  it("holds the same key in commands that start at the same time on a new machine", async () => {
    const started = await Promise.all([1, 2, 3, 4].map(() => ensure()));
    const [first] = started;
    for (const { keys } of started) assert.deepEqual(keys, first?.keys);
    assert.deepEqual(readdirSync(join(directory, "ssh")).sort(), ["id_ed25519", "id_ed25519.pub"]);
    const publicKey = readFileSync(join(directory, "ssh", "id_ed25519.pub"), "utf8");
    assert.equal(publicKey.trim(), first?.keys[0]);
  });

  it("ends with the command", async () => {
    const agent = await ensure();
    await agent.close();
    assert.ok(!existsSync(agent.socket));
    assert.deepEqual(await agentKeys(agent.socket), []);
    await agent.close();
  });

  it("is the running one when that holds a key, and is left alone", async () => {
    const running = await ensure();
    const agent = await ensure({ SSH_AUTH_SOCK: running.socket });
    assert.equal(agent.foreign, true);
    assert.equal(agent.socket, running.socket);
    await agent.close();
    assert.equal((await agentKeys(running.socket)).length, 1);
  });

  it("does not stay behind when the key cannot be loaded", async () => {
    const ours = (): number =>
      readdirSync(tmpdir()).filter((name) => name.startsWith("stackadm-agent-")).length;
    mkdirSync(join(directory, "ssh"));
    writeFileSync(join(directory, "ssh", "id_ed25519"), "no key", { mode: 0o600 });
    const before = ours();
    await assert.rejects(ensure(), /ssh-add/);
    assert.equal(ours(), before);
  });

  it("is one of ours when the one that is named does not answer", async () => {
    const agent = await ensure({ SSH_AUTH_SOCK: join(directory, "nobody") });
    assert.equal(agent.foreign, false);
  });
});
