import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withSiteDefaults } from "../../../../components/config/site-defaults.js";

describe("withSiteDefaults", () => {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-site-"));
  const file = join(directory, "site.yaml");
  after(() => {
    rmSync(directory, { recursive: true });
  });
  const args = { image: "debian-12", kubernetes: { version: "1.36.3" } };

  it("merges the program's arguments over the site's, object by object", () => {
    writeFileSync(file, "image: other\nkubernetes: { repository: http://mirror.example }\n");
    assert.deepEqual(withSiteDefaults(args, { STACKADM_SITE: file }), {
      image: "debian-12",
      kubernetes: { version: "1.36.3", repository: "http://mirror.example" },
    });
  });

  it("returns the arguments unchanged without a site", () => {
    assert.deepEqual(withSiteDefaults(args, {}), args);
  });

  it("reports the unreadable file and the variable that names the file", () => {
    const named = { STACKADM_SITE: join(directory, "none.yaml") };
    assert.throws(() => withSiteDefaults(args, named), /STACKADM_SITE: .*none\.yaml/);
  });
});
