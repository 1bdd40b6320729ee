import { z } from "zod";
import { record } from "../../arguments/values.js";
import { manifestOption } from "../manifest-option.js";

export const canalOptions = record({
  kind: z.literal("canal"),
  manifest: manifestOption("canal"),
});
