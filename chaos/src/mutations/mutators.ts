import { stripTypeScriptTypes } from 'node:module'

/** A mutation: one change of a file's text. */
export interface Mutation {
  readonly file: string
  /** Number of the changed line, from 1. */
  readonly line: number
  /** The line before and after the change. */
  readonly before: string
  readonly after: string
  /** The whole file after the change. */
  readonly text: string
}

/**
 * Patterns and their replacements. Each match outside of comments, string literals, imports and types gives one
 * mutation.
 */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/ === /g, ' !== '],
  [/ !== /g, ' === '],
  [/ < /g, ' <= '],
  [/ <= /g, ' < '],
  [/ > /g, ' >= '],
  [/ >= /g, ' > '],
  [/ && /g, ' || '],
  [/ \|\| /g, ' && '],
  [/ \?\? /g, ' && '],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
  [/ \* /g, ' / '],
  [/\+\+/g, '--'],
  [/ \+= /g, ' -= '],
  [/ -= /g, ' += '],
  [/\btrue\b/g, 'false'],
  [/\bfalse\b/g, 'true'],
  [/\bMath\.min\b/g, 'Math.max'],
  [/\bMath\.max\b/g, 'Math.min'],
  [/\bif \((.*?)\)(?= [\w{#]|$)/g, 'if (!($1))'],
  // Removes a call whose result is unused.
  [/^(\s+)(?:void )?(?:await )?[\w.#!?]+\([^;]*\)$/g, '$1;'],
  [/\bbreak$/g, ';'],
  [/\bcontinue$/g, ';'],
]

const SKIPPED_LINES =
  /^\s*(?:\/\/|\/?\*|import |export (?:interface|type) |(?:readonly )?#?\w+\??: [\w<>[\], |]+$|declare )/

/** Returns all mutations of a file that still parse. */
export function createMutations(file: string, source: string): Mutation[] {
  const lines = source.split('\n')
  return lines.flatMap((line, i) => {
    if (SKIPPED_LINES.test(line)) return []
    const code = blank(line)
    return REPLACEMENTS.flatMap(([pattern, replacement]) =>
      Array.from(code.matchAll(pattern), (match): Mutation => {
        const found = line.slice(match.index, match.index + match[0].length)
        const after =
          line.slice(0, match.index) +
          found.replace(new RegExp(pattern.source), replacement) +
          line.slice(match.index + match[0].length)
        return { file, line: i + 1, before: line.trim(), after: after.trim(), text: lines.with(i, after).join('\n') }
      }),
    ).filter(({ text, after, before }) => after !== before && isProgram(text))
  })
}

/** Replaces each character of the string literals and the comment of a line, so that all offsets stay the same. */
const blank = (line: string) =>
  line
    .replace(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (text) => '_'.repeat(text.length))
    .replace(/\/\/.*$/, (text) => ' '.repeat(text.length))

function isProgram(text: string): boolean {
  try {
    stripTypeScriptTypes(text)
    return true
  } catch {
    return false
  }
}
