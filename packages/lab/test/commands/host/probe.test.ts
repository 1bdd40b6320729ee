import assert from "node:assert/strict";
import { Failure } from "../../../../../base/failures/failure.js";
import { checkHost, readHost } from "../../../host/requirements.js";
import { ip, StubHost } from "../../../../../test/support/machine/stub-host.js";

describe("lab/host/requirements: links", () => {
  let host: StubHost;
  beforeEach(() => {
    host = new StubHost({ ip, modprobe: "exit 1" });
  });
  afterEach(() => {
    host.close();
  });
  const isRoot = process.getuid?.() === 0;

  it("creates veth, bridge and vxlan in a temporary namespace and deletes the namespace", async () => {
    const facts = await readHost({ ...host.paths, cache: host.root });
    assert.equal(facts.links, undefined);
    const calls = host.called("ip");
    if (!isRoot) {
      assert.deepEqual(calls, [], "only root may");
      return;
    }
    for (const type of ["veth", "bridge", "vxlan"]) {
      assert.ok(
        calls.some((call) => call.includes(`-n stackadm-probe`) && call.includes(`type ${type}`)),
        type,
      );
    }
    assert.equal(calls.at(-1), "ip netns del stackadm-probe");
  });

  it("reports the kernel's errors and still deletes the namespace", async () => {
    const lacking = 'case "$*" in *vxlan*) echo "Error: Unknown device type." >&2; exit 2 ;; esac';
    host.stub("ip", `${lacking}\n${ip}`);
    const expected = isRoot ? /vxlan and bridges \(.*Unknown device type/s : /root/;
    await assert.rejects(checkHost({ ...host.paths, cache: host.root }), (error: unknown) => {
      assert.ok(error instanceof Failure);
      assert.match(error.message, expected);
      assert.match(error.hint, /OS_CLOUD/);
      return true;
    });
    if (isRoot) assert.equal(host.called("ip").at(-1), "ip netns del stackadm-probe");
  });
});
