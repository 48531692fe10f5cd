import { testProgram, type PatternProgram } from './pattern-program.ts'
import type { ParsedTopic } from './parsed-topic.ts'
import { compileTemplate } from './template-program.ts'

/** Maximum length of a template (characters). */
const MAX_TEMPLATE_LENGTH = 1_024

/** A URI template (RFC 6570), which the protocol 0.x uses as a topic selector. */
export class TopicTemplate {
  /** Unlike the source of any URL pattern, it begins with NUL. */
  readonly source: string
  readonly #text: string
  #program: PatternProgram | undefined

  private constructor(text: string) {
    this.#text = text
    this.source = `\0${text}`
  }

  /** Parses a template. Returns undefined if it is invalid or too complex, so that it selects only the equal text. */
  static parse(text: string): TopicTemplate | undefined {
    // Most texts without an expression are no templates but topics.
    if (!text.includes('{') || text.length > MAX_TEMPLATE_LENGTH || !compileTemplate(text)) return undefined
    // Flat copy: a substring would retain the whole text of the request in memory.
    return new TopicTemplate(JSON.parse(JSON.stringify(text)))
  }

  /** Literal start: every topic that the template matches begins with this text. */
  get anchor(): string {
    return this.#text.slice(0, this.#text.indexOf('{'))
  }

  /** True if the topic is an expansion of the template, or equal to its text. */
  matches({ text }: ParsedTopic, maxSteps?: number): boolean {
    if (text === this.#text) return true
    this.#program ??= compileTemplate(this.#text)!
    return testProgram(this.#program, text, maxSteps)
  }
}
