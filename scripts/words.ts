// `pnpm words [PATH...]`: checks comments, documents and names against docs/glossary.md. `--list` prints every marker.
import { globSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { countProse, findLongSentences, MAX_SENTENCE_WORDS, readMarkdown, type ProseBlock } from './words/prose.ts'
import { findMeasuredNumbers } from './words/measured-numbers.ts'
import { MAX_TYPE_FILES, readSource } from './words/source.ts'

/** The check fails at this number of idiom markers per 1,000 words, for comments and for Markdown separately. */
const MAX_MARKERS_PER_THOUSAND = 4
/** Documents for readers, in which a long sentence is a problem, unlike in others such as the change log. */
const READER_DOCUMENTS =
  /^(?:README|CONTRIBUTING|docs\/.*|packages\/[^/]+\/README|(?:bench|flame|chaos|clients\/[^/]+)\/README)\.md$/u
/** Files whose text other programs wrote, or that quote the words of this check. */
const EXCLUDED =
  /^(?:scripts\/words\/|scripts\/test\/words|flame\/[a-z]+\/v\d+\/|bench\/measured\/|docs\/upstream\/|clients\/openapi\/|clients\/js\/(?:src\/generated|dist)\/)/u

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isSelected = (file: string) =>
  positionals.length === 0 ||
  positionals.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
const checked = globSync('**/*.{ts,mjs,md}', { exclude: ['**/node_modules/**'] })
  .filter((file) => isSelected(file) && !EXCLUDED.test(file))
  .toSorted()

const MEASURED = 'states a measurement without the mark of its result (a setting or a limit is in backticks)'

const problems: string[] = []
const lines: string[] = []
const typeFiles = new Map<string, Set<string>>()

/** Adds up the markers of blocks, and lists them. */
function count(file: string, blocks: readonly ProseBlock[], total: { words: number; markers: number }) {
  for (const { line, text } of blocks) {
    const { words, markers } = countProse(text)
    total.words += words
    total.markers += markers.length
    if (markers.length > 0) lines.push(`${file}:${line} [${markers.join(', ')}] ${text}`)
  }
}

const comments = { words: 0, markers: 0 }
const markdown = { words: 0, markers: 0 }
for (const file of checked) {
  if (file.endsWith('.ts') || file.endsWith('.mjs')) {
    const { comments: blocks, types, unclearConstants } = readSource(file, readFileSync(file, 'utf8'))
    count(file, blocks, comments)
    for (const { name } of types) typeFiles.set(name, (typeFiles.get(name) ?? new Set()).add(file))
    for (const { name, line } of unclearConstants) problems.push(`${file}:${line} ${name} needs a noun and its unit`)
  } else if (file.endsWith('.md')) {
    const text = readFileSync(file, 'utf8')
    const blocks = readMarkdown(text)
    count(file, blocks, markdown)
    if (!READER_DOCUMENTS.test(file)) continue
    for (const number of findMeasuredNumbers(text)) problems.push(`${file}:${number.line} ${MEASURED}: ${number.text}`)
    for (const block of blocks) {
      for (const sentence of findLongSentences(block)) {
        problems.push(`${file}:${block.line} has more than ${MAX_SENTENCE_WORDS} words in a sentence: ${sentence}`)
      }
    }
  }
}
for (const [name, declaring] of typeFiles) {
  if (declaring.size > MAX_TYPE_FILES)
    problems.push(`${name} is declared in ${declaring.size} files: ${[...declaring].join(', ')}`)
}
for (const [name, { words, markers }] of Object.entries({ comments, markdown })) {
  const perThousand = words === 0 ? 0 : (1_000 * markers) / words
  process.stdout.write(`${name}: ${markers} markers in ${words} words, ${perThousand.toFixed(1)} per 1,000\n`)
  if (perThousand >= MAX_MARKERS_PER_THOUSAND)
    problems.push(`${name} have ${perThousand.toFixed(1)} markers per 1,000 words`)
}
if (values.list) for (const line of lines) process.stdout.write(`${line}\n`)
for (const problem of problems) process.stdout.write(`${problem}\n`)
if (problems.length > 0) process.exitCode = 1
