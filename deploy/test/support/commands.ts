import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A command that a document shows to its reader. */
export interface DocumentedCommand {
  /** Path of the document from the root. */
  readonly file: string
  /** The command with its shell comment; may have several lines. */
  readonly text: string
}

const BLOCK = /^```sh\n(.*?)^```/gms
const HEREDOC = /<<(\w+)/

/** True if a text is a complete command: quotes and heredocs are closed, and no backslash continues the last line. */
function isWhole(text: string): boolean {
  const [, end] = HEREDOC.exec(text) ?? []
  if (end !== undefined) return text.endsWith(`\n${end}`)
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const letter = text[i]!
    if (letter === '\\' && quote !== "'") i++
    else if (quote !== '') quote = letter === quote ? '' : quote
    else if (letter === '#' && /\s/.test(text[i - 1] ?? ' ')) i = (text.indexOf('\n', i) + 1 || text.length + 1) - 1
    else if (letter === '"' || letter === "'") quote = letter
  }
  return quote === '' && !text.endsWith('\\')
}

/** The complete commands of a shell block. */
export function parseCommands(block: string): string[] {
  const commands: string[] = []
  let begun = ''
  for (const line of block.split('\n')) {
    begun = begun === '' ? line : `${begun}\n${line}`
    if (!isWhole(begun)) continue
    if (begun.trim() !== '' && !begun.trim().startsWith('#')) commands.push(begun)
    begun = ''
  }
  if (begun !== '') throw new Error(`a command without an end: ${begun}`)
  return commands
}

/** The commands of all documents of this project. */
export function listDocumentedCommands(): DocumentedCommand[] {
  // Does not use git, which a reader of an unpacked archive may not have.
  const exclude = ['**/node_modules', 'data', 'flame/*/v*']
  const files = globSync('**/*.md', { cwd: ROOT, exclude }).toSorted()
  return files.flatMap((file) =>
    Array.from(readFileSync(join(ROOT, file), 'utf8').matchAll(BLOCK), ([, block]) => parseCommands(block!)).flatMap(
      (commands) => commands.map((text) => ({ file, text })),
    ),
  )
}
