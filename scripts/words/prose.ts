/** Words that have a plainer equivalent in docs/glossary.md, in every form that the project used. */
const IDIOM_WORDS = new RegExp(
  String.raw`\b(?:${[
    'told|tells?|telling',
    'kept|keeps?(?!-alive)|keeping|keeper|keepsakes?',
    'asks?|asked|asking|asker',
    'who|whoever|whom|somebody|nobody|anybody|whatever',
    'anew|gone|beforehand|besides?|aside',
    '(?<!at )most(?! recent)',
    'so (?:many|much|long|far)|as (?:many|much)(?! as possible)',
    'what (?:is|was|are|were|comes?|came|has|had|becomes?|became|follows?|others|they|it|a|the|one|no|each|belongs)',
    'of (?:its|their) own|on (?:its|their) way|(?:its|their|a) turn',
    '(?:is|are|be|was|were) there|there (?:is|are) nobody',
    'stands?(?!-in)|stood|standing',
    'house|doors?(?!-)|figures?|turnstile|crowd|notebook|announcer',
    '(?<!in )places?(?!holder)|placed',
    'to be (?:read|written|sent|told|had)',
    'let go|lets go|looks? after|goes on|go on|went on|gives? back|given back|does without|do without',
    'says?|said|saying',
    'would rather|wants?|wanted',
    '(?<!left )behind(?! (?:a|the|another) (?:reverse )?proxy)',
    'dearer|dear|nought|ere|hence|thereof|thus|lest|ought',
  ].join('|')})\b`,
  'giu',
)

/** A sentence that begins so hides its subject. */
const HIDDEN_SUBJECT =
  /(?:^|[.:;!?]\s+)(?:What|Whether|Who|Whose|Those|Nothing|Nobody|Whoever|Whatever|None|Nor|That which)\b/gu

/** Longest sentence of a document, outside tables (words). */
export const MAX_SENTENCE_WORDS = 35

export interface ProseCount {
  words: number
  /** The text of each marker, in order. */
  markers: string[]
}

const countWords = (text: string) => text.split(/\s+/u).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Removes code, links, addresses and quoted text: they are not prose. */
function toProse(text: string): string {
  return text
    .replaceAll(/`[^`]*`/gu, '`code`')
    .replaceAll(/\]\([^)]*\)/gu, ']')
    .replaceAll(/\{@link [^}]*\}|https?:\/\/\S+|"[^"]*"|<[^>]*>/gu, 'code')
}

/** Counts the words of a text and its idiom markers. */
export function countProse(text: string): ProseCount {
  const prose = toProse(text)
  const subjects = [...prose.matchAll(HIDDEN_SUBJECT)]
  // One marker for `What is`, which is a hidden subject and an idiom.
  const withoutSubjects = prose.replaceAll(HIDDEN_SUBJECT, (subject) => '-'.repeat(subject.length))
  const idioms = [...withoutSubjects.matchAll(IDIOM_WORDS)]
  return {
    words: countWords(prose),
    markers: [...subjects, ...idioms].map(([marker]) => marker.replace(/^[.:;!?]\s+/u, '')),
  }
}

export interface ProseBlock {
  /** Line of the block's first character, from 1. */
  line: number
  text: string
  /** True for a row of a table: its cells are no sentences. */
  isTable: boolean
}

/** Splits a Markdown document into paragraphs, list items, headings and rows of tables; code blocks are left out. */
export function readMarkdown(source: string): ProseBlock[] {
  const withoutCode = source
    .replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2 *$/gmu, (code) => code.replaceAll(/[^\n]/gu, ''))
    .replaceAll(/<!--[\s\S]*?-->/gu, (comment) => comment.replaceAll(/[^\n]/gu, ''))
  const blocks: ProseBlock[] = []
  let current: ProseBlock | undefined
  for (const [index, line] of withoutCode.split('\n').entries()) {
    const text = line.trim()
    const isTable = text.startsWith('|')
    const isStart = isTable || /^(?:#+ |[-*+] |\d+\. |> )/u.test(text)
    if (text === '') current = undefined
    else if (current && !isStart && !current.isTable) current.text += ` ${text}`
    else {
      current = { line: index + 1, text: text.replace(/^(?:#+|[-*+]|\d+\.|>) /u, ''), isTable }
      blocks.push(current)
      if (line.trim().startsWith('#')) current = undefined
    }
  }
  return blocks
}

/** Returns the sentences of a block that have too many words. */
export function findLongSentences({ text, isTable }: ProseBlock): string[] {
  if (isTable) return []
  return toProse(text)
    .split(/(?<=[.:;!?])\s+(?=[\p{Lu}`\d])/u)
    .filter((sentence) => countWords(sentence) > MAX_SENTENCE_WORDS)
}
