import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Failure } from "../../../../../base/failures/failure.js";
import { kubernetesPackageRepository } from "../../../../../base/versions/pinned-versions.js";
import {
  readMirrorSettings,
  parseFailureReason,
  findUnavailabilityReason,
} from "../../../kubernetes/mirror/mirror-settings.js";

describe("readMirrorSettings", () => {
  const settings = (STACKADM_LAB_MIRROR?: string) =>
    readMirrorSettings(STACKADM_LAB_MIRROR === undefined ? {} : { STACKADM_LAB_MIRROR });

  it("returns upstream for 'auto'", () => {
    assert.deepEqual(settings("auto"), kubernetesPackageRepository);
  });

  it("returns nothing for 'never' and by default", () => {
    assert.equal(settings("never"), undefined);
    assert.equal(settings(), undefined);
  });

  it("returns a mirror of the packages with upstream's key", () => {
    const url = "http://mirror.test:8080/kubernetes/v{minor}/deb/";
    assert.deepEqual(settings(url), {
      url,
      keyFingerprint: kubernetesPackageRepository.keyFingerprint,
    });
  });

  it("refuses other values in one sentence that says what to write", () => {
    for (const value of [
      "",
      "always",
      "mirror.test",
      "ftp://mirror.test/",
      "https://",
      "https://a b/",
    ])
      assert.throws(
        () => settings(value),
        (error: unknown) =>
          error instanceof Failure &&
          error.message.startsWith(`STACKADM_LAB_MIRROR: ${value} must be auto, never or a URL`),
        value,
      );
  });
});

describe("findUnavailabilityReason", () => {
  it("returns nothing if the request succeeds", async () => {
    assert.equal(await findUnavailabilityReason(() => Promise.resolve("it")), undefined);
  });

  it("returns the reason from the tool's last error", async () => {
    for (const [said, why] of [
      [
        'Error: reading image "docker://registry.test/pause:1": pinging registry: dial tcp: lookup registry.test: no such host',
        "no such host",
      ],
      [
        "E: Failed to fetch https://p.test/core:/deb/Release.key  Could not resolve 'p.test'\nE: Download Failed",
        "Could not resolve 'p.test'",
      ],
      ["E: Failed to fetch http://p.test/k  404  Not Found [IP: 127.0.0.1 80]", "404  Not Found"],
      [
        "W: GPG error: it\nE: The repository 'http://p.test/deb  InRelease' is not signed.\nN: See apt-secure(8)",
        "The repository 'http://p.test/deb  InRelease' is not signed",
      ],
      [
        "E: Failed to fetch http://p.test/a.deb  Hash Sum mismatch\n   Hashes of expected file:\n    - Filesize:728 [weak]",
        "Hash Sum mismatch",
      ],
      [
        'time="1" level=fatal msg="reading manifest 1 in p.test/a: manifest unknown"',
        "manifest unknown",
      ],
      ["", ""],
    ] as const) {
      const ask = () => Promise.reject(new Error(`'tool' ended with code 1: ${said}`));
      assert.equal(
        await findUnavailabilityReason(ask),
        why === "" ? "'tool' ended with code 1:" : why,
      );
    }
    assert.equal(parseFailureReason("a thing"), "a thing");
  });

  it("returns a timeout after the limit", async () => {
    const ask = (signal: AbortSignal) => sleep(60_000, undefined, { signal });
    assert.equal(await findUnavailabilityReason(ask, undefined, 20), "no answer in 0.02 s");
  });

  it("stops on cancellation", async () => {
    const stop = new AbortController();
    const ask = (signal: AbortSignal) => sleep(60_000, undefined, { signal });
    const asked = findUnavailabilityReason(ask, stop.signal);
    stop.abort();
    await assert.rejects(asked, { name: "AbortError" });
  });
});
