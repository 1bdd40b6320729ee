import { z } from "zod";
import { strictObject } from "../../schema/fields.js";
import { manifestOptionSchema } from "../manifest-option.js";

export const canalOptionsSchema = strictObject({
  kind: z.literal("canal"),
  manifest: manifestOptionSchema("canal"),
});
