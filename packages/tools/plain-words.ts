/** Phrase that the texts of this repository avoid, because its meaning is rare or figurative. */
export interface AvoidedPhrase {
  /** Regular expression of whole words. A space also matches the line break of a comment. */
  readonly phrase: string;
  /** Words to write instead. */
  readonly instead: string;
  /**
   * Texts that keep the phrase: recorded values, names of Linux, and programs on machines, where a
   * changed comment would run a step again.
   */
  readonly except?: readonly string[];
}

export const avoidedPhrases: readonly AvoidedPhrase[] = [
  { phrase: "anew|once more", instead: "again" },
  { phrase: "(take|takes|taken|taking|took) away", instead: "delete, remove" },
  {
    phrase: "(come|comes|came|coming) to (an|its|their) end",
    instead: "end, finish",
    except: ["did not come to its end"],
  },
  { phrase: "whoever|whomever", instead: "the user, the caller" },
  { phrase: "(any|every|some)body", instead: "all users, another user" },
  {
    phrase: "nobody",
    instead: "no one",
    except: ["script_user nobody", "nobody:x:65534:65534:nobody:", "`nobody`", '=== "nobody"'],
  },
  { phrase: "besides?", instead: "next to, in addition to, except" },
  { phrase: "mend(s|ed|ing)?", instead: "repair" },
  { phrase: "by heart", instead: "from memory" },
  { phrase: "by lot", instead: "at random" },
  { phrase: "look(s|ed|ing)? after", instead: "manage" },
  {
    phrase: "(what|which|wher)ever",
    instead: "any, each, even if",
    except: ["whatever families the", "whatever the request", "whatever time is left"],
  },
  { phrase: "speaks?", instead: "use, support" },
  { phrase: "knows nothing", instead: "does not use, supports only" },
  { phrase: "all the same", instead: "in any case" },
  { phrase: "lives", instead: "exists, is in, is valid", except: ["The token lives 15 minutes"] },
  { phrase: "(let|lets|letting) go", instead: "release, remove" },
  {
    phrase: "of (its|one's|our|their|your) own",
    instead: "own, separate",
    except: ["a volume of its own"],
  },
];

/** Characters between two words of a phrase: spaces, line breaks and the marks of a comment. */
const gap = String.raw`[\s#*/]+`;

const patterns = avoidedPhrases.map(({ phrase, instead, except = [] }) => ({
  pattern: new RegExp(String.raw`\b(?:${phrase.replaceAll(" ", gap)})\b`, "gi"),
  instead,
  except,
}));

export interface UsedPhrase {
  /** Number of the line in which the phrase begins, from 1. */
  readonly line: number;
  readonly phrase: string;
  readonly instead: string;
}

/** Returns each use of an avoided phrase in a text. */
export const findAvoidedPhrases = (text: string): readonly UsedPhrase[] =>
  patterns.flatMap(({ pattern, instead, except }) => {
    const rest = except.reduce((checked, kept) => checked.replaceAll(kept, ""), text);
    return [...rest.matchAll(pattern)].map(({ 0: phrase, index }) => ({
      line: rest.slice(0, index).split("\n").length,
      phrase,
      instead,
    }));
  });
