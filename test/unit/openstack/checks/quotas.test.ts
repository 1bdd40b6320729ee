import assert from "node:assert/strict";
import { findQuotaProblems } from "../../../../openstack/checks/quotas.js";

describe("a quota", () => {
  it("of -1 is no limit, and one that is unknown is not held against anybody", () => {
    assert.deepEqual(
      findQuotaProblems({ cores: { limit: -1, used: 5 } }, { cores: 99, ports: 99 }),
      [],
    );
  });

  it("that is used up beyond its limit has nothing free", () => {
    const [text] = findQuotaProblems({ ports: { limit: 5, used: 9 } }, { ports: 1 });
    assert.match(text ?? "", /need 1 more, but 0 of 5 are free/);
  });

  it("is enough when it just fits, or when nothing more is needed", () => {
    const quotas = { ports: { limit: 5, used: 3 } };
    assert.deepEqual(findQuotaProblems(quotas, { ports: 2 }), []);
    assert.deepEqual(findQuotaProblems(quotas, { ports: 0 }), []);
    assert.deepEqual(findQuotaProblems(quotas, { ports: -3 }), []);
  });
});
