// VitePress reads only this folder. tsc and eslint do not read folders that begin with a dot.
export { default } from "../config.ts";
