import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentProgress, type Progress } from "../../../base/progress.js";
import { ensureCommands, findMissingCommands } from "../../../base/host-packages.js";
import { Failure } from "../../../base/failures/failure.js";

/**
 * Returns a stub of apt-get: records its calls, and fails as many times as the file `failures`
 * states.
 */
const aptGet = (directory: string): string => `#!/bin/sh
printf '%s %s\\n' "$DEBIAN_FRONTEND" "$*" >>${directory}/calls
case "$*" in *install*) ;; *) exit 0 ;; esac
left=$(wc -c <${directory}/failures)
[ "$left" -eq 0 ] || { printf %s "$(head -c $((left - 1)) ${directory}/failures)" >${directory}/failures
  echo "E: Unable to locate package" >&2; exit 100; }
echo "Setting up the package"
`;

describe("findMissingCommands", () => {
  it("returns commands that are in no directory of PATH", () => {
    const there = new Set(["/b/podman"]);
    const wanted = { podman: "podman", zstd: "zstd" };
    assert.deepEqual(
      findMissingCommands(wanted, "/a:/b::", (file) => there.has(file)),
      ["zstd"],
    );
    assert.deepEqual(
      findMissingCommands(wanted, "", () => true),
      ["podman", "zstd"],
    );
  });

  it("accepts an absolute path with any PATH", () => {
    const wanted = { "/usr/include/stdio.h": "libc6-dev", "/usr/include/none.h": "none" };
    assert.deepEqual(
      findMissingCommands(wanted, "", (file) => file === "/usr/include/stdio.h"),
      ["/usr/include/none.h"],
    );
  });
});

describe("ensureCommands", () => {
  let directory: string;
  const path = process.env["PATH"];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "commands-"));
    writeFileSync(join(directory, "calls"), "");
    failing(0);
    writeFileSync(join(directory, "apt-get"), aptGet(directory), { mode: 0o755 });
    writeFileSync(join(directory, "there"), "#!/bin/sh\n", { mode: 0o755 });
    for (const tool of ["sh", "wc", "head"]) symlinkSync(`/usr/bin/${tool}`, join(directory, tool));
    process.env["PATH"] = directory;
  });
  afterEach(() => {
    process.env["PATH"] = path;
    rmSync(directory, { recursive: true });
  });
  const failing = (times: number): void => {
    writeFileSync(join(directory, "failures"), "x".repeat(times));
  };
  const calls = (): string[] =>
    readFileSync(join(directory, "calls"), "utf8").split("\n").filter(Boolean);
  const options = "noninteractive -y -o DPkg::Lock::Timeout=300";
  const install = (packages: string): string =>
    `${options} install --no-install-recommends ${packages}`;

  it("installs nothing if all commands exist", async () => {
    await ensureCommands({ there: "package-of-there" }, silentProgress);
    assert.deepEqual(calls(), []);
  });

  // Only root can install packages; other users get a message. Each case is tested where it
  // applies.
  if (process.getuid?.() === 0) {
    it("installs each missing package once, without a prompt", async () => {
      await ensureCommands(
        { there: "no", one: "pair", two: "pair", three: "single" },
        silentProgress,
      );
      assert.deepEqual(calls(), [install("pair single")]);
    });

    it("updates the package lists and retries if the lists are outdated", async () => {
      failing(1);
      await ensureCommands({ one: "package" }, silentProgress);
      assert.deepEqual(calls(), [install("package"), `${options} update`, install("package")]);
    });

    it("does not retry after a cancellation", async () => {
      failing(1);
      const stop = new AbortController();
      const update = (): void => {
        stop.abort();
      };
      const progress: Progress = {
        ...silentProgress,
        step: (title) => ({ ...silentProgress.step(title), update }),
      };
      await assert.rejects(ensureCommands({ one: "package" }, progress, { signal: stop.signal }), {
        name: "AbortError",
      });
      assert.deepEqual(calls(), [install("package")]);
    });

    it("searches the directories that the caller passes", async () => {
      await ensureCommands({ there: "package-of-there" }, silentProgress, { path: "/none" });
      assert.deepEqual(calls(), [install("package-of-there")]);
    });

    it("reports apt-get's output in a failed step", async () => {
      failing(2);
      const said: string[] = [];
      const progress: Progress = {
        ...silentProgress,
        step: (title) => ({
          update: (detail) => said.push(`  ${detail}`),
          done: () => said.push(`+ ${title}`),
          failed: () => said.push(`x ${title}`),
        }),
      };
      await assert.rejects(ensureCommands({ one: "package" }, progress), (error: unknown) => {
        assert.ok(error instanceof Failure);
        return /'apt-get .*' ended with code 100: E: Unable to locate package/.test(error.message);
      });
      assert.deepEqual(
        [said.includes("  E: Unable to locate package"), said.at(-1)],
        [true, "x Install package"],
      );
    });
  } else
    it("reports commands and packages to users without the right to install", async () => {
      await assert.rejects(
        ensureCommands({ one: "a", two: "b" }, silentProgress),
        (error: unknown) => {
          assert.ok(error instanceof Failure);
          assert.equal(error.message, "Missing on this machine: one, two.");
          return /apt-get install a b/.test(error.hint);
        },
      );
    });
});
