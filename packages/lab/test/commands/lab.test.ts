import assert from "node:assert/strict";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { silentProgress, type Progress } from "../../../../base/progress.js";
import { Failure } from "../../../../base/failures/failure.js";
import { referToSelf } from "../../../../base/process-identity.js";
import { labDown, labStatus, labUp } from "../../lab.js";
import { placeholderSecrets } from "../../cloud/secrets.js";
import { listOpenStackServices, getUnitName } from "../../cloud/units.js";
import { writeCloudsFiles } from "../../facts.js";
import { hostCommands } from "../../host/packages.js";
import { writeState } from "../../state.js";
import { startFakeLabCloud } from "./support/fake-lab-cloud.js";
import { hostStubs, StubHost } from "../../../../test/support/machine/stub-host.js";

let host: StubHost;
const useHost = (): void => {
  beforeEach(() => {
    const commands = Object.keys(hostCommands).map((name) => [name, "true"] as const);
    host = new StubHost({ ...Object.fromEntries(commands), ...hostStubs });
  });
  afterEach(() => {
    host.close();
  });
};
const remember = (key: string): void => {
  writeState(host.paths, {
    key,
    startedAt: "2026-01-02T03:04:05.000Z",
    settings: { ...host.settings, zones: [...host.settings.zones] },
  });
};
const holdLock = (): void => {
  const holder = { ...referToSelf(), token: "held", purpose: "lab up" };
  host.put(host.paths.lock.slice(host.root.length + 1), JSON.stringify(holder));
};

describe("lab down", () => {
  useHost();

  it("does nothing and creates no directory if there was never a lab", async () => {
    const progress: Progress = { ...silentProgress, step: () => assert.fail("a step began") };
    await labDown({ progress });
    assert.deepEqual(host.calls(), []);
    assert.ok(!existsSync(host.paths.cache));
  });

  it("removes container and facts and keeps the caches", async () => {
    remember("0123456789ab");
    writeCloudsFiles(host.settings, host.paths, placeholderSecrets);
    mkdirSync(host.paths.images, { recursive: true });
    host.put("container", "running");
    await labDown({ progress: silentProgress });
    assert.equal(host.read("container"), undefined);
    assert.ok(!existsSync(host.paths.state));
    assert.ok(existsSync(host.paths.images));
    assert.equal((await labStatus()).state, "down");
  });

  it("removes the container of a lab whose facts are lost", async () => {
    mkdirSync(host.paths.cache, { recursive: true });
    host.put("container", "running");
    assert.deepEqual(await labStatus(), {
      state: "broken",
      problems: [`container ${host.settings.name}`],
    });
    await labDown({ progress: silentProgress });
    assert.deepEqual(await labStatus(), { state: "down", problems: [] });
  });

  it("refuses while another process works on the lab, and changes nothing", async () => {
    remember("0123456789ab");
    holdLock();
    await assert.rejects(labDown({ progress: silentProgress }), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.match(
        error.message,
        new RegExp(`Process ${process.pid} holds this lock \\(lab up\\)`),
      );
      return true;
    });
    assert.ok(existsSync(host.paths.stateFile));
    assert.deepEqual(host.calls(), []);
    const status = await labStatus();
    assert.deepEqual(status.problems, [`process ${process.pid} is at work: lab up`]);
    assert.equal(status.state, "busy");
  });

  it("reports why a removal failed, and keeps the facts for the next call", async () => {
    remember("0123456789ab");
    const rule = `-A FORWARD -i x -m comment --comment ${host.settings.name} -j ACCEPT`;
    host.stub(
      "iptables",
      `case "$*" in *" -S") echo '${rule}' ;; *) echo "Bad rule" >&2; exit 1 ;; esac`,
    );
    await assert.rejects(labDown({ progress: silentProgress }), /Bad rule/);
    assert.ok(existsSync(host.paths.stateFile));
    assert.ok(!existsSync(host.paths.lock), "the next one can try");
  });
});

describe("lab up", () => {
  useHost();

  it("refuses an insufficient host before creating anything except its cache directory", async () => {
    host.stub("ip", 'case "$*" in *"link add"*) echo "Unknown device type" >&2; exit 2 ;; esac');
    await assert.rejects(labUp({ progress: silentProgress }), /This host cannot run the lab/);
    assert.ok(!existsSync(host.paths.storeFile));
    assert.ok(!existsSync(host.paths.lock));
    assert.deepEqual(host.called("podman", "--runtime"), []);
    assert.equal(statSync(host.paths.cache).mode & 0o077, 0, "passwords will lie in it");
  });

  it("refuses invalid networks before taking the lock", async () => {
    process.env["STACKADM_LAB_EXTERNAL"] = "10.0.0.0/8";
    await assert.rejects(
      labUp({ progress: silentProgress }),
      /STACKADM_LAB_EXTERNAL: 10\.0\.0\.0\/8/,
    );
    assert.ok(!existsSync(dirname(host.paths.lock)));
  });

  it("refuses while another process works on the lab", async () => {
    holdLock();
    await assert.rejects(labUp({ progress: silentProgress }), /holds this lock/);
    assert.deepEqual(host.calls(), []);
  });

  it("keeps a healthy lab, reports that it is outdated, and refuses a version that the lab lacks", async () => {
    const cloud = await startFakeLabCloud(host.settings);
    try {
      remember("0123456789ab");
      host.put("container", "running");
      const active = listOpenStackServices(host.settings)
        .map(getUnitName)
        .map(() => "active");
      host.put("inside", `printf '${active.join("\\n")}\\n'`);
      const notes: string[] = [];
      const progress: Progress = { ...silentProgress, note: (text) => void notes.push(text) };
      await assert.rejects(labUp({ progress, kubernetes: "1.2.3" }), /1\.2\.3/);
      assert.match(
        notes.join(),
        /built from older files; 'stackadm-lab down' and 'stackadm-lab up'/,
      );
      assert.equal(host.read("container"), "running");
      assert.equal((await labStatus()).current, false);
    } finally {
      await cloud.close();
    }
  });
});
