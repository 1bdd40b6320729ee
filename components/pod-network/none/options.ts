import { z } from "zod";
import { record } from "../../schema/fields.js";

export const noneOptions = record({ kind: z.literal("none") });
