import assert from "node:assert/strict";
import { Failure } from "../../../../../base/failures/failure.js";
import {
  getContainerPid,
  getContainerState,
  runInContainer,
  removeContainer,
  startContainer,
} from "../../../host/container.js";
import {
  busyAtFirst,
  hostStubs,
  podman,
  StubHost,
} from "../../../../../test/support/machine/stub-host.js";

describe("container on this host", () => {
  let host: StubHost;
  beforeEach(() => {
    host = new StubHost(hostStubs);
  });
  afterEach(() => {
    host.close();
  });
  const start = () =>
    startContainer({ settings: host.settings, root: "/store/running", mounts: {} });

  it("is unknown before its start, runs, and is absent after its removal", async () => {
    const { name } = host.settings;
    assert.equal(await getContainerState(name), undefined);
    await start();
    assert.equal(await getContainerState(name), "running");
    await removeContainer(name);
    assert.equal(await getContainerState(name), undefined);
  });

  it("is stopped if its processes were killed, even without a report of podman's monitor", async () => {
    await start();
    host.put("killed");
    assert.equal(await getContainerState(host.settings.name), "stopped");
  });

  it("is stopped if the runtime no longer knows the container", async () => {
    await start();
    host.stub("runc", "echo 'container does not exist' >&2; exit 1");
    assert.equal(await getContainerState(host.settings.name), "stopped");
  });

  it("may be absent when removed", async () => {
    await removeContainer(host.settings.name);
    assert.deepEqual(host.called("podman", "--runtime", "runc", "rm"), []);
  });

  it("is removed again while the kernel still frees its processes", async () => {
    await start();
    host.stub("podman", `case "$*" in *" rm "*) ${busyAtFirst} ;; esac\n${podman}`);
    await removeContainer(host.settings.name);
    assert.equal(await getContainerState(host.settings.name), undefined);
  });

  it("reports why the removal failed", async () => {
    await start();
    const stub = `case "$*" in *inspect*) echo stopping ;; *) echo "device busy" >&2; exit 125 ;; esac`;
    host.stub("podman", stub);
    await assert.rejects(removeContainer(host.settings.name, 300), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.match(
        error.message,
        /^The container \S+ is still there after 0\.3 s: .*device busy\.$/,
      );
      assert.match(error.hint, /'stackadm-lab down'/);
      return true;
    });
  });

  it("receives input only if the caller passes some, because podman would wait", async () => {
    await start();
    host.put("inside", 'case "$*" in *" -i "*) cat ;; *) echo no input ;; esac');
    const { name } = host.settings;
    const echoed = await runInContainer(name, ["cat"], { input: "secret word" });
    assert.equal(echoed.stdout, "secret word\n");
    assert.equal((await runInContainer(name, ["true"])).stdout, "no input\n");
    assert.ok(!host.calls().join().includes("secret word"));
  });

  it("fails with the command's output, and accepts exit codes that the caller allows", async () => {
    host.put("inside", "echo no such unit >&2; exit 3");
    const command = ["systemctl", "is-active", "x"];
    await assert.rejects(runInContainer(host.settings.name, command), /code 3: no such unit/);
    const { code } = await runInContainer(host.settings.name, command, { accept: [0, 3] });
    assert.equal(code, 3);
  });

  it("has its init process on the host", async () => {
    host.stub("podman", "echo 4711");
    assert.equal(await getContainerPid(host.settings.name), 4711);
  });
});
