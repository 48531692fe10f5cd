import { readFileSync } from 'node:fs'

/** Findings from the graphs of a subject: a section of `flame/findings.md`. */
export interface Finding {
  /** Statement of the source (the project that the service reimplements) about its version, if it has one. */
  readonly source?: {
    readonly says: string
    /** Name of our component to compare with. */
    readonly part: string
    /** Share of CPU that the source states (percent). */
    readonly share?: number
  }
  /** Explanation. Without `source`, it is the rest of a sentence that begins with "The source". */
  readonly why: string
  /** Proposal for the next change. */
  readonly next: string
}

const SECTION_PATTERN =
  /^(?:> (?<says>.+) \((?<part>[^,)]+)(?:, (?<share>[\d.]+) %)?\)\n\n)?(?<why>[^]+?)\n\nNext: (?<next>[^]+)$/
const joinLines = (text: string) => text.replaceAll('\n', ' ')

/**
 * Parses findings. The keys are service, variant and workload, separated by spaces.
 * @throws Error if a section is invalid
 */
export function parseFindings(text: string): Map<string, Finding> {
  const sections = text.split('\n## ').slice(1)
  return new Map(
    sections.map((section) => {
      const [name = '', ...rest] = section.split('\n\n')
      const found = SECTION_PATTERN.exec(rest.join('\n\n').trim())?.groups
      if (!found) throw new Error(`flame/findings.md: ${name} needs an explanation and a next change`)
      const { says, part, share, why, next } = found
      const source = says && part ? { says, part, ...(share && { share: Number(share) }) } : undefined
      return [name, { source, why: joinLines(why!), next: joinLines(next!) }]
    }),
  )
}

export const readFindings = (): Map<string, Finding> =>
  parseFindings(readFileSync(new URL('../findings.md', import.meta.url), 'utf8'))
