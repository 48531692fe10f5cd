import { parseSync, type Comment } from 'oxc-parser'
import type { ProseBlock } from './prose.ts'

/** Maximum number of files that declare a type of the same name. */
export const MAX_TYPE_FILES = 2

/** Words that are neither a noun nor a unit: a constant of these alone does not name its value. */
const NO_NOUN = new Set(
  `MOST LEAST FEW MANY MORE ENOUGH EVERY EACH ALL ANY BOTH NONE NOTHING SOME OTHER OTHERS SEVERAL SAME SUCH
  LONGEST SHORTEST LARGEST SMALLEST FASTEST SLOWEST HIGHEST LOWEST OLDEST EARLIEST RAREST NEAREST LATEST
  CALM PATIENT PATIENCE SILENT STEADY QUIET FRESH STALE IDLE OPEN CLOSED FULL WHOLE HOT NEAR FAR WIDE DEAD LIVE SURE WELL USUAL SPECIAL PLAIN EXACT DISTINCT
  ENDLESS LONG SHORT LARGE SMALL OLD NEW OWN FIRST LAST NEXT FORMER DURABLE READY HIDDEN
  HELD KEPT TOLD ASKED GONE SEEN TAKEN GIVEN GROWN LOST LEFT DONE SHOWN KNOWN UNKNOWN REFUSED FAILED CHANGED IMPORTED REMEMBERED SETTLED MATCHED MOVED LISTED MAPPED
  AT ON IN TO FROM OF BY FOR WITHIN WITHOUT BEFORE AFTER BETWEEN BEHIND BESIDE APART ASIDE AWAY HERE NOWHERE ELSEWHERE NEVER NOW AGAIN ONCE LATELY UNTIL AS A THE IS NO NOT
  HOW WHO WHAT OURS THEIRS`.split(/\s+/u),
)

/** Quantities that need a unit in the name. */
const NEEDS_UNIT =
  /^(?:HOUR|MINUTE|SECOND|DAY|WEEK)$|(?:^|_)(?<!PER_)(?:TIMEOUT|INTERVAL|DELAY|PAUSE|PERIOD|DURATION|LEASE|TTL)$/u

export interface Declaration {
  name: string
  line: number
}

export interface SourceWords {
  comments: ProseBlock[]
  /** Names of interfaces, type aliases and classes. */
  types: Declaration[]
  /** Constants in capitals without a noun, or without the unit of their number. */
  unclearConstants: Declaration[]
}

/** Reads comments and declared names of a TypeScript file. Adjacent line comments are one block. */
export function readSource(file: string, source: string): SourceWords {
  const { program, comments, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  const lineStarts = [0, ...[...source.matchAll(/\n/gu)].map(({ index }) => index + 1)]
  const toLine = (offset: number) => lineStarts.findLastIndex((start) => start <= offset) + 1
  const types: Declaration[] = []
  const unclearConstants: Declaration[] = []
  visit(program, (node) => {
    const { type, id, init } = node as {
      type: string
      id?: { type: string; name: string; start: number }
      init?: unknown
    }
    if (id?.type !== 'Identifier') return
    const declaration = { name: id.name, line: toLine(id.start) }
    if (/^(?:TSInterface|TSTypeAlias|Class)Declaration$/u.test(type)) types.push(declaration)
    if (type === 'VariableDeclarator' && isUnclearConstant(id.name, init)) unclearConstants.push(declaration)
  })
  return { comments: toBlocks(comments, source, toLine), types, unclearConstants }
}

/** True for a constant in capitals whose name has no noun, or whose number has no unit. */
export function isUnclearConstant(name: string, init: unknown): boolean {
  if (!/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/u.test(name) || name.length === 1) return false
  if (name.split('_').every((word) => NO_NOUN.has(word))) return true
  return NEEDS_UNIT.test(name) && isNumeric(init)
}

function isNumeric(init: unknown): boolean {
  const { type, value, left, right } = (init ?? {}) as {
    type?: string
    value?: unknown
    left?: unknown
    right?: unknown
  }
  if (type === 'BinaryExpression') return isNumeric(left) || isNumeric(right)
  return type === 'Literal' && typeof value === 'number'
}

function visit(node: unknown, enter: (node: object) => void): void {
  if (Array.isArray(node)) for (const child of node) visit(child, enter)
  else if (typeof node === 'object' && node !== null) {
    enter(node)
    for (const child of Object.values(node)) visit(child, enter)
  }
}

function toBlocks(comments: readonly Comment[], source: string, toLine: (offset: number) => number): ProseBlock[] {
  const blocks: (ProseBlock & { end: number })[] = []
  for (const { type, value, start, end } of comments) {
    if (/^\s*(?:oxlint|eslint|@ts-|#region|#endregion)/u.test(value)) continue
    const text = value
      .replaceAll(/^\s*\*+ ?/gmu, '')
      .replaceAll(/\s+/gu, ' ')
      .trim()
    const previous = blocks.at(-1)
    const isAdjacent = type === 'Line' && previous && /^\s*$/u.test(source.slice(previous.end, start))
    if (isAdjacent && toLine(start) === toLine(previous.end) + 1) {
      previous.text += ` ${text}`
      previous.end = end
    } else blocks.push({ line: toLine(start), text, isTable: false, end })
  }
  return blocks
}
