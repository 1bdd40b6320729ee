import assert from "node:assert/strict";
import { parseFingerprint } from "../../../../kubernetes/apt/signing-key.js";

const fingerprint = "BEA72DD15AD9730A46B74666EEA9BDD4A1FF94B8";
const listing = [
  "tru::1:1795245538:0:3:1:5",
  "pub:u:256:22:EEA9BDD4A1FF94B8:1795245538:::u:::scSC:::::ed25519:::0:",
  `fpr:::::::::${fingerprint}:`,
  "uid:u::::1795245538::0::stackadm lab repository::::::::::0:",
  "sub:u:256:18:0123456789ABCDEF:1795245538::::::e:::::cv25519::",
  "fpr:::::::::0000000000000000000000000123456789ABCDEF:",
].join("\n");

describe("parseFingerprint", () => {
  it("returns the primary key's fingerprint, not a subkey's", () => {
    assert.equal(parseFingerprint(listing), fingerprint);
  });

  it("throws if gpg lists no key", () => {
    assert.throws(() => parseFingerprint(""), /no key/);
    assert.throws(() => parseFingerprint("tru::1:1795245538:0:3:1:5"), /no key/);
  });
});
