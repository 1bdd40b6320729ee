import { z } from "zod";
import { record } from "../../arguments/values.js";

export const noneOptions = record({ kind: z.literal("none") });
