import { z } from "zod";
import { strictObject } from "../../schema/fields.js";

export const cloudRoutesOptionsSchema = strictObject({ kind: z.literal("cloud-routes") });
