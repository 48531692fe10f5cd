import { readFileSync } from 'node:fs'

/** What a variant's graphs taught: a section of `flame/findings.md`. */
export interface Finding {
  /** What the source says of the version that the variant mirrors, where it says something. */
  readonly source?: {
    readonly says: string
    /** The part of ours that does the like. */
    readonly part: string
    /** Percent of CPU. */
    readonly share?: number
  }
  /** Why it is as it is here; without `source` it goes on after "The source". */
  readonly why: string
  /** What to change next. */
  readonly next: string
}

const SECTION_PATTERN =
  /^(?:> (?<says>.+) \((?<part>[^,)]+)(?:, (?<share>[\d.]+) %)?\)\n\n)?(?<why>[^]+?)\n\nNext: (?<next>[^]+)$/
const joinLines = (text: string) => text.replaceAll('\n', ' ')

/** By service, variant and workload, with a space between. @throws Error when a section is none */
export function parseFindings(text: string): Map<string, Finding> {
  const sections = text.split('\n## ').slice(1)
  return new Map(
    sections.map((section) => {
      const [name = '', ...rest] = section.split('\n\n')
      const found = SECTION_PATTERN.exec(rest.join('\n\n').trim())?.groups
      if (!found) throw new Error(`flame/findings.md: ${name} has no reason, or nothing to change next`)
      const { says, part, share, why, next } = found
      const source = says && part ? { says, part, ...(share && { share: Number(share) }) } : undefined
      return [name, { source, why: joinLines(why!), next: joinLines(next!) }]
    }),
  )
}

export const readFindings = (): Map<string, Finding> =>
  parseFindings(readFileSync(new URL('../findings.md', import.meta.url), 'utf8'))
