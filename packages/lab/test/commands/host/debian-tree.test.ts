import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { silentProgress } from "../../../../../base/progress.js";
import { buildDebianTree } from "../../../host/debian-tree.js";
import { StubHost } from "../../../../../test/support/machine/stub-host.js";

/** Stub of setpriv: runs the inner command without namespaces. */
const setpriv = 'while [ "$1" != --mount-proc ]; do shift; done; shift; exec "$@"';

describe("buildDebianTree", () => {
  let host: StubHost;
  let temporary: string;
  const saved = process.env["TMPDIR"];
  beforeEach(() => {
    host = new StubHost({ setpriv, mmdebstrap: "true" });
    host.stub("apt-config", `echo 'Acquire::http::Proxy "http://proxy.example:3128";'`);
    temporary = join(host.root, "tmp");
    mkdirSync(temporary);
    process.env["TMPDIR"] = temporary;
  });
  afterEach(() => {
    if (saved === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = saved;
    host.close();
  });
  const build = (
    update: (text: string) => void = () => undefined,
    signal?: AbortSignal,
    backports?: string[],
  ) =>
    buildDebianTree({
      folder: join(host.root, "tree"),
      packages: ["systemd", "sudo"],
      step: { ...silentProgress.step(""), update },
      ...(backports && { backports }),
      ...(signal && { signal }),
    });

  it("passes the host's mirror access to mmdebstrap, in a file that exists during the run", async () => {
    host.stub(
      "mmdebstrap",
      'for word; do case "$word" in --aptopt=*) cp "${word#*=}" "$root/used" ;; esac; done',
    );
    await build();
    assert.equal(host.read("used"), 'Acquire::http::Proxy "http://proxy.example:3128";\n');
    assert.match(host.called("mmdebstrap").join(), /--include=systemd,sudo bookworm \S+\/tree/);
  });

  it("prefers backports of exactly the named source packages", async () => {
    host.stub(
      "mmdebstrap",
      'for word; do case "$word" in --setup-hook=upload*) set -- $word; cp "$2" "$root/preferred"; echo "$3" >"$root/target" ;; esac; done',
    );
    await build(undefined, undefined, ["qemu", "seabios"]);
    assert.equal(
      host.read("preferred"),
      "Package: src:qemu src:seabios\nPin: release n=bookworm-backports\nPin-Priority: 990\n",
    );
    assert.equal(host.read("target"), "/etc/apt/preferences.d/backports\n");
    assert.match(host.called("mmdebstrap").join(), /deb \S+ bookworm-backports main/);
    await build();
    assert.doesNotMatch(host.called("mmdebstrap").at(-1) ?? "", /backports|setup-hook/);
  });

  it("uses the release's own packages if the mirror has no backports", async () => {
    host.stub(
      "mmdebstrap",
      `case "$*" in *-backports*) touch "$root/tree/part"
       echo "E: The repository 'http://m/debian bookworm-backports Release' does not have a Release file." >&2; exit 100 ;; esac`,
    );
    mkdirSync(join(host.root, "tree"));
    const said: string[] = [];
    await build((text) => void said.push(text), undefined, ["qemu"]);
    assert.match(said.join(), /the mirror has no backports/);
    assert.deepEqual(readdirSync(join(host.root, "tree")), []);
    assert.deepEqual(
      host.called("mmdebstrap").map((call) => call.includes("bookworm-backports main")),
      [true, false],
    );
    assert.deepEqual(readdirSync(temporary), []);
  });

  it("reports only downloads and installations", async () => {
    host.stub(
      "mmdebstrap",
      `echo "Get:1 http://m/debian bookworm/main amd64 sudo amd64 1.9 [1 kB]"
       echo "Reading package lists..."; echo "Setting up sudo (1.9) ..." >&2`,
    );
    const said: string[] = [];
    await build((text) => void said.push(text));
    assert.deepEqual(said.sort(), ["Setting up sudo (1.9) ...", "download sudo amd64 1.9 [1 kB]"]);
  });

  it("fails with mmdebstrap's last output, and leaves no file", async () => {
    host.stub("mmdebstrap", 'echo "E: unable to fetch InRelease" >&2; exit 100');
    await assert.rejects(build(), /'mmdebstrap' ended with code 100: E: unable to fetch InRelease/);
    assert.deepEqual(readdirSync(temporary), []);
  });

  it("shows at most the last twelve lines of a long failure", async () => {
    host.stub("mmdebstrap", "for i in {1..40}; do echo line-$i; done; exit 1");
    await assert.rejects(build(), (error: Error) => {
      const lines = error.message.split("\n");
      assert.equal(lines.length, 12);
      assert.equal(lines.at(-1), "line-40");
      return true;
    });
  });

  it("stops on cancellation, and leaves no file", async () => {
    host.stub("mmdebstrap", "echo I: started; exec /bin/sleep 60");
    const stop = new AbortController();
    await assert.rejects(
      build((text) => {
        if (text.includes("started")) stop.abort(new Error("called off"));
      }, stop.signal),
      /called off/,
    );
    assert.deepEqual(readdirSync(temporary), []);
  });
});
