import { testProgram, compile, getLiteralStart, parseComponent, type PatternProgram } from './pattern-program.ts'
import { URL_COMPONENTS, type TopicUrl } from './topic-url.ts'

/** Longest pattern (characters). */
const MAX_PATTERN_LENGTH = 1_024

/** A pattern as the standard has it (urlpattern.spec.whatwg.org), but for regular expressions in it. */
export class TopicPattern {
  /** Its parts as the standard normalizes them: two with the same source match the same. */
  readonly source: string
  #programs: (PatternProgram | undefined)[] | undefined

  private constructor(source: string) {
    this.source = source
  }

  /** @param base what a relative one is resolved against; nothing where the pattern is none, or too costly */
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
    // Flat: a part of the request's text would keep all of it.
    return source.length > 2 * MAX_PATTERN_LENGTH ? undefined : new TopicPattern(JSON.parse(JSON.stringify(source)))
  }

  /** What the text of every topic that it matches begins with (`textOf`). */
  get anchor(): string {
    const parts = this.#parts()
    const anchor: string[] = []
    for (const [i, separator] of ['://', ':', '', ''].entries()) {
      const { text, isAll } = getLiteralStart(parts[i]!)
      anchor.push(text)
      if (!isAll) break
      anchor.push(separator)
    }
    // Joined at once: a text that was added to keeps its parts.
    return anchor.join('')
  }

  test(url: TopicUrl): boolean {
    this.#programs ??= this.#parts().map((part) => (part === undefined ? undefined : compile(part)))
    return URL_COMPONENTS.every((name, i) => {
      const program = this.#programs![i]
      return !program || testProgram(program, url[name])
    })
  }

  /** Nothing for a part that may be anything. */
  #parts() {
    const texts = this.source.split('\n')
    const isSpecial = SPECIAL_PROTOCOL.test(texts[0]!)
    return URL_COMPONENTS.map((name, i) => {
      const text = texts[i] ?? '*'
      return text === '*' ? undefined : parseComponent(text, getDelimiter(name, isSpecial))
    })
  }
}

// Protocols whose paths have steps; so may one that is not known.
const SPECIAL_PROTOCOL = /^(?:https?|wss?|ftp|file)$|[*:({?+]/

const getDelimiter = (part: (typeof URL_COMPONENTS)[number], isSpecial: boolean) => {
  if (part === 'hostname') return '.'
  return part === 'pathname' && isSpecial ? '/' : ''
}
