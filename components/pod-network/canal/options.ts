import { z } from "zod";
import { record } from "../../schema/fields.js";
import { manifestOption } from "../manifest-option.js";

export const canalOptions = record({
  kind: z.literal("canal"),
  manifest: manifestOption("canal"),
});
