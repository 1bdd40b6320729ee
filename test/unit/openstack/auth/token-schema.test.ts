import assert from "node:assert/strict";
import { tokenSchema } from "../../../../openstack/auth/token-schema.js";

describe("tokenSchema", () => {
  for (const written of ["2026-11-26T01:30:00.000000Z", "2026-11-26T01:30:00.000000"])
    it(`converts times to UTC: ${written}`, () => {
      const user = { id: "u", password_expires_at: written };
      const { token } = tokenSchema.parse({ token: { expires_at: written, user } });
      const moments = [token.expires_at, token.user.password_expires_at];
      assert.deepEqual(moments, ["2026-11-26T01:30:00Z", "2026-11-26T01:30:00Z"]);
    });
});
