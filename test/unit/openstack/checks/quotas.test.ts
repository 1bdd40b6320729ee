import assert from "node:assert/strict";
import { findQuotaProblems } from "../../../../openstack/checks/quotas.js";

describe("findQuotaProblems", () => {
  it("treats -1 as unlimited and ignores an unknown quota", () => {
    assert.deepEqual(
      findQuotaProblems({ cores: { limit: -1, used: 5 } }, { cores: 99, ports: 99 }),
      [],
    );
  });

  it("treats a quota that is exceeded as having no free capacity", () => {
    const [text] = findQuotaProblems({ ports: { limit: 5, used: 9 } }, { ports: 1 });
    assert.match(text ?? "", /need 1 more, but 0 of 5 are free/);
  });

  it("accepts an exact fit, and no further need", () => {
    const quotas = { ports: { limit: 5, used: 3 } };
    assert.deepEqual(findQuotaProblems(quotas, { ports: 2 }), []);
    assert.deepEqual(findQuotaProblems(quotas, { ports: 0 }), []);
    assert.deepEqual(findQuotaProblems(quotas, { ports: -3 }), []);
  });
});
