import { testProgram, compile, getLiteralStart, parseComponent, type PatternProgram } from './pattern-program.ts'
import type { ParsedTopic } from './parsed-topic.ts'
import { URL_COMPONENTS, type TopicUrl } from './topic-url.ts'

/** Maximum length of a pattern (characters). */
const MAX_PATTERN_LENGTH = 1_024

/** A URL pattern as defined by the standard (urlpattern.spec.whatwg.org), but without regular expressions. */
export class TopicPattern {
  /**
   * The components in their normal form, one per line, without the last lines that match everything (`*`). Patterns with
   * the same source match the same topics.
   */
  readonly source: string
  /** The hub's URL, against which relative topics are resolved. */
  readonly base: string
  #programs: (PatternProgram | undefined)[] | undefined

  private constructor(source: string, base: string) {
    this.source = source
    this.base = base
  }

  /**
   * Parses a pattern. Returns undefined if it is invalid, has a regular expression or is too long.
   * @param base the hub's URL, against which relative patterns and topics are resolved
   */
  static parse(text: string, base: string): TopicPattern | undefined {
    if (text.length > MAX_PATTERN_LENGTH) return undefined
    let pattern: URLPattern
    try {
      pattern = new URLPattern(text, base)
    } catch {
      return undefined
    }
    if (pattern.hasRegExpGroups) return undefined
    const source = URL_COMPONENTS.map((part) => pattern[part])
      .join('\n')
      .replace(/(?:\n\*)+$/, '')
    // Flat copy: a substring would retain the whole text of the request in memory.
    return source.length > 2 * MAX_PATTERN_LENGTH
      ? undefined
      : new TopicPattern(JSON.parse(JSON.stringify(source)), base)
  }

  /** Literal start: the result of `formatTopicUrl` begins with this text for every topic that the pattern matches. */
  get anchor(): string {
    const parts = this.#parts()
    const anchor: string[] = []
    for (const [i, separator] of ['://', ':', '', ''].entries()) {
      const { text, isAll } = getLiteralStart(parts[i]!)
      anchor.push(text)
      if (!isAll) break
      anchor.push(separator)
    }
    // `join` creates one flat string. A concatenation would retain its parts in memory.
    return anchor.join('')
  }

  matches(topic: ParsedTopic, maxSteps?: number): boolean {
    const url = topic.getUrl(this.base)
    return url !== undefined && this.test(url, maxSteps)
  }

  /**
   * True if the pattern matches the URL of a topic.
   * @param maxSteps maximum number of steps of the test of each component
   */
  test(url: TopicUrl, maxSteps?: number): boolean {
    this.#programs ??= this.#parts().map((part) => (part === undefined ? undefined : compile(part)))
    return URL_COMPONENTS.every((name, i) => {
      const program = this.#programs![i]
      return !program || testProgram(program, url[name], maxSteps)
    })
  }

  /** Returns the parsed components; undefined for a component that matches anything. */
  #parts() {
    const texts = this.source.split('\n')
    const isSpecial = SPECIAL_PROTOCOL.test(texts[0]!)
    return URL_COMPONENTS.map((name, i) => {
      const text = texts[i] ?? '*'
      return text === '*' ? undefined : parseComponent(text, getDelimiter(name, isSpecial))
    })
  }
}

// Protocols whose paths have segments. A protocol with wildcards counts as such a protocol, because it may match one.
const SPECIAL_PROTOCOL = /^(?:https?|wss?|ftp|file)$|[*:({?+]/

const getDelimiter = (part: (typeof URL_COMPONENTS)[number], isSpecial: boolean) => {
  if (part === 'hostname') return '.'
  return part === 'pathname' && isSpecial ? '/' : ''
}
