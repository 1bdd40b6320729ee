import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { silent, type Progress } from "../../../../base/progress.js";
import { UserError } from "../../../../base/user-error.js";
import { ensureHostPackages, hostCommands, isInstalled } from "../../../../lab/host/packages.js";
import { buildTools, ensureBuildTools } from "../../../../lab/kubernetes/host-tools.js";
import { StubHost } from "../../../support/stub-host.js";

const commands = Object.keys(hostCommands).filter((name) => name !== "podman");
const tools = Object.keys(buildTools).filter((name) => !name.startsWith("/") && name !== "gpg");
const headers = existsSync("/usr/include/stdio.h") ? [] : ["libc6-dev"];

/** What installs, the commands it looks for but one, and the packages that lack then. */
const cases = [
  ["the lab's commands", ensureHostPackages, commands, "podman"],
  ["the build tools", ensureBuildTools, tools, [...headers, "gnupg"].join(" ")],
] as const;

for (const [name, ensure, present, lacking] of cases) {
  describe(`installing ${name}`, () => {
    let host: StubHost;
    const stub = Object.fromEntries(present.map((command) => [command, "true"]));
    const isRoot = process.getuid?.() === 0;
    afterEach(() => {
      host.close();
    });

    const asked = new RegExp(lacking.replaceAll(" ", ", "));

    it("asks apt-get for exactly what is missing, as root; others are told the names", async () => {
      host = new StubHost({ ...stub, "apt-get": "true" });
      const titles: string[] = [];
      const progress: Progress = {
        ...silent,
        step: (title) => (titles.push(title), silent.step(title)),
      };
      if (!isRoot) {
        await assert.rejects(ensure(progress), asked);
        return;
      }
      await ensure(progress);
      const [update, install, ...more] = host.calls();
      assert.match(update ?? "", /^apt-get .*\bupdate$/);
      assert.ok(install?.endsWith(`--yes --no-install-recommends ${lacking}`), install);
      assert.deepEqual(more, []);
      assert.deepEqual(titles, [`Install ${lacking.replaceAll(" ", ", ")}`]);
    });

    it("asks no question that nobody would answer", async () => {
      host = new StubHost(stub);
      host.stub("apt-get", '[ "$DEBIAN_FRONTEND" = noninteractive ] || exit 9; cat');
      if (isRoot) await ensure(silent);
      else await assert.rejects(ensure(silent), UserError);
    });

    it("fails with what apt-get said", async () => {
      host = new StubHost({ ...stub, "apt-get": "echo E: no such package >&2; exit 100" });
      await assert.rejects(ensure(silent), isRoot ? /no such package/ : asked);
    });
  });
}

describe("a host with everything", () => {
  let host: StubHost;
  before(() => {
    const names = [...Object.keys(hostCommands), ...Object.keys(buildTools)];
    const plain = names.filter((name) => !name.startsWith("/") && name !== "tar");
    host = new StubHost(Object.fromEntries(plain.map((name) => [name, "true"])));
  });
  after(() => {
    host.close();
  });
  const progress: Progress = { ...silent, step: () => assert.fail("a step began") };

  it("is left alone", async () => {
    await ensureHostPackages(progress);
    assert.ok(isInstalled("podman"));
    assert.deepEqual(host.calls(), []);
  });
});
