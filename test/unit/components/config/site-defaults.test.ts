import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withSiteDefaults } from "../../../../components/config/site-defaults.js";

describe("components/config/site-defaults", () => {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-site-"));
  const file = join(directory, "site.yaml");
  after(() => {
    rmSync(directory, { recursive: true });
  });
  const args = { image: "debian-12", kubernetes: { version: "1.36.3" } };

  it("lays a program's arguments over the site's, object by object", () => {
    writeFileSync(file, "image: other\nkubernetes: { repository: http://mirror.example }\n");
    assert.deepEqual(withSiteDefaults(args, { STACKADM_SITE: file }), {
      image: "debian-12",
      kubernetes: { version: "1.36.3", repository: "http://mirror.example" },
    });
  });

  it("changes nothing where no site is named", () => {
    assert.deepEqual(withSiteDefaults(args, {}), args);
  });

  it("says which file cannot be read, and by which variable it was named", () => {
    const named = { STACKADM_SITE: join(directory, "none.yaml") };
    assert.throws(() => withSiteDefaults(args, named), /STACKADM_SITE: .*none\.yaml/);
  });
});
