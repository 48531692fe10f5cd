import { STEP_KIND, type PatternProgram } from './pattern-program.ts'
import { CHARACTER_CLASS } from './character-classes.ts'

// Compiles URI templates (RFC 6570, all levels) to the same automata as URL patterns, so a match has the same bounds.

/** Maximum number of steps of a template. Long prefixes (`{var:60}`) of many variables could exceed it. */
const MAX_TEMPLATE_STEPS = 8_192

/** Maximum length of a prefix in `{var:60}` (characters). */
const MAX_PREFIX_LENGTH = 64

/** Maximum length of a character in UTF-8 (bytes). */
const MAX_CHARACTER_BYTES = 4

/** How the expressions with an operator are expanded (RFC 6570, appendix A). */
interface Operator {
  readonly first: string
  readonly separator: string
  /** True if each value follows the name of its variable. */
  readonly isNamed: boolean
  /** True if an empty value is preceded by `=`. */
  readonly hasEmptyMark: boolean
  /** Class of the characters of a value that are not encoded. */
  readonly allowed: number
}

const { unreserved, reserved, comma, equals, hexadecimal } = CHARACTER_CLASS
const define = (first: string, separator: string, rest: Partial<Operator> = {}): Operator => ({
  first,
  separator,
  isNamed: false,
  hasEmptyMark: false,
  allowed: unreserved,
  ...rest,
})
const OPERATORS: Readonly<Record<string, Operator>> = {
  '': define('', ','),
  '+': define('', ',', { allowed: unreserved | reserved }),
  '#': define('#', ',', { allowed: unreserved | reserved }),
  '.': define('.', '.'),
  '/': define('/', '/'),
  ';': define(';', ';', { isNamed: true }),
  '?': define('?', '&', { isNamed: true, hasEmptyMark: true }),
  '&': define('&', '&', { isNamed: true, hasEmptyMark: true }),
}

interface TemplateVariable {
  readonly name: string
  /** True for `{var*}`, which expands the items of a list one by one. */
  readonly isExploded: boolean
  /** The `60` of `{var:60}`. */
  readonly maxLength: number | undefined
}

/** A part of a template: a literal text, or an expression. */
type TemplatePart = string | { readonly operator: Operator; readonly variables: readonly TemplateVariable[] }

const EXPRESSION = /\{([+#./;?&]?)([^{}]+)\}/y
const VARIABLE = /^((?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?$/i
const LITERAL = /[^{}]+/y

/** Parses a template. Returns undefined if it is invalid. */
function parseTemplate(text: string): TemplatePart[] | undefined {
  const parts: TemplatePart[] = []
  for (let at = 0; at < text.length;) {
    LITERAL.lastIndex = EXPRESSION.lastIndex = at
    const literal = LITERAL.exec(text)
    const expression = literal ? undefined : EXPRESSION.exec(text)
    if (!literal && !expression) return undefined
    at = literal ? LITERAL.lastIndex : EXPRESSION.lastIndex
    if (literal) parts.push(literal[0])
    else {
      const variables = expression![2]!.split(',').map((variable) => VARIABLE.exec(variable))
      if (variables.includes(null)) return undefined
      parts.push({
        operator: OPERATORS[expression![1]!]!,
        variables: variables.map((match) => ({
          name: match![1]!,
          isExploded: match![2] !== undefined,
          maxLength: match![3] === undefined ? undefined : Number(match![3]),
        })),
      })
    }
  }
  return parts
}

/** Compiles a URI template. Returns undefined if it is invalid, or needs too many steps. */
export function compileTemplate(text: string): PatternProgram | undefined {
  const parts = parseTemplate(text)
  if (!parts) return undefined
  const start = typeof parts[0] === 'string' ? parts[0] : ''
  const builder = new ProgramBuilder()
  for (const part of start === '' ? parts : parts.slice(1)) {
    if (typeof part === 'string') builder.addText(part)
    else if (part.variables.some(({ maxLength = 0 }) => maxLength > MAX_PREFIX_LENGTH)) return undefined
    else builder.addExpression(part)
    if (builder.next > MAX_TEMPLATE_STEPS) return undefined
  }
  return { start, steps: builder.next === 0 ? undefined : builder.end() }
}

/** Writes the steps of a program. A label is the number of a step. */
class ProgramBuilder {
  readonly #steps: number[] = []

  /** Number of the next step. */
  get next(): number {
    return this.#steps.length / 3
  }

  end(): number[] {
    this.#add(STEP_KIND.end)
    return this.#steps
  }

  addText(text: string): void {
    for (let i = 0; i < text.length; i++) this.#add(STEP_KIND.char, text.charCodeAt(i))
  }

  /**
   * Adds all expansions of an expression. Any of its variables may be undefined. The first defined one follows
   * `first`; the others follow a separator.
   */
  addExpression({ operator, variables }: Exclude<TemplatePart, string>): void {
    const { first, separator } = operator
    // The steps for a first value, and after them a second copy, for the values that follow another.
    const jumps = variables.map((variable) => this.#addOptional(first, operator, variable, true))
    const unused = this.#add(STEP_KIND.fork)
    for (const [i, variable] of variables.entries()) {
      if (i > 0) {
        this.#jumpHere(jumps[i - 1]!)
        this.#addOptional(separator, operator, variable, false)
      }
    }
    this.#jumpHere(jumps.at(-1)!)
    this.#jumpHere(unused)
  }

  /** Adds a variable that may be undefined. @returns the step that jumps away after the value, if `hasJump` */
  #addOptional(before: string, operator: Operator, variable: TemplateVariable, hasJump: boolean): number {
    const skip = this.#add(STEP_KIND.fork, this.next + 1)
    this.addText(before)
    this.#addValue(operator, variable)
    const jump = hasJump ? this.#add(STEP_KIND.fork) : -1
    this.#steps[skip * 3 + 2] = this.next
    return jump
  }

  #addValue({ separator, isNamed, hasEmptyMark, allowed }: Operator, variable: TemplateVariable): void {
    const { name, isExploded, maxLength } = variable
    if (isExploded) {
      // Items of a list, or pairs with a key.
      const start = this.next
      this.#addCharacters(allowed | equals)
      const again = this.#add(STEP_KIND.fork, this.next + 1)
      this.addText(separator)
      this.#jump(start)
      this.#steps[again * 3 + 2] = this.next
      return
    }
    let skip = -1
    if (isNamed) {
      this.addText(name)
      if (!hasEmptyMark) skip = this.#add(STEP_KIND.fork, this.next + 1)
      this.addText('=')
    }
    if (maxLength === undefined) this.#addCharacters(allowed | comma)
    else for (let i = 0; i < maxLength; i++) this.#addCharacter(allowed, MAX_CHARACTER_BYTES)
    if (skip >= 0) this.#steps[skip * 3 + 2] = this.next
  }

  /** Adds any number of characters: those of a class, and encoded ones. */
  #addCharacters(classes: number): void {
    const start = this.next
    this.#addCharacter(classes)
    this.#jump(start)
    // The character is optional, and without it the loop ends here.
    this.#steps[start * 3 + 2] = this.next
  }

  /** Adds an optional character of a class, or up to this number of encoded bytes. */
  #addCharacter(classes: number, maxBytes = 1): void {
    const skip = this.#add(STEP_KIND.fork, this.next + 1)
    const choice = this.#add(STEP_KIND.fork, this.next + 1)
    this.#add(STEP_KIND.class, classes)
    const jump = this.#add(STEP_KIND.fork)
    this.#steps[choice * 3 + 2] = this.next
    const skips = [skip]
    for (let i = 0; i < maxBytes; i++) {
      if (i > 0) skips.push(this.#add(STEP_KIND.fork, this.next + 1))
      this.addText('%')
      this.#add(STEP_KIND.class, hexadecimal)
      this.#add(STEP_KIND.class, hexadecimal)
    }
    this.#jumpHere(jump)
    for (const one of skips) this.#steps[one * 3 + 2] = this.next
  }

  #add(kind: number, a = 0, b = 0): number {
    return this.#steps.push(kind, a, b) / 3 - 1
  }

  #jump(to: number): void {
    this.#add(STEP_KIND.fork, to, to)
  }

  #jumpHere(jump: number): void {
    this.#steps[jump * 3 + 1] = this.#steps[jump * 3 + 2] = this.next
  }
}
