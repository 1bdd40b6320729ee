import { z } from "zod";
import { strictObject } from "../../schema/fields.js";

export const noneOptionsSchema = strictObject({ kind: z.literal("none") });
