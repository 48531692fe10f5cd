import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { access, constants, link, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createProgressLine } from '@influencer-stats/runtime/progress-line'
import { createPricesClient } from './client.ts'
import { generateSamplePrices } from './sample/sample-catalog.ts'

// `pnpm prices import FILE`, `export FILE` and `generate`: import and export the prices of a running service over HTTP.

const HELP = `pnpm prices import FILE [--replace [--empty]] [--url URL]    imports prices, one JSON object per line
pnpm prices export FILE [--url URL]                          exports all prices to a new file in the same format
pnpm prices generate [--offerings N] [--replace] [--url URL] imports the sample prices (50 offerings, 487,200 prices)
pnpm prices generate FILE [--offerings N]                    writes the sample prices to a new file

--replace removes all other prices; a file without prices also requires --empty.
--url is http://127.0.0.1:8084 by default. The CLI sends API_TOKEN if it is set; for an export it may be the READ_TOKEN.
`
const ROWS_PER_OFFERING = 9_744
const CHUNK_BYTES = 65_536
const NEWLINE = 10

async function* readFileBytes(file: string, onRead: (share: number) => void): AsyncGenerator<Uint8Array> {
  const { size } = await stat(file)
  let read = 0
  for await (const chunk of createReadStream(file)) {
    read += chunk.length
    onRead(read / size)
    yield chunk
  }
}

async function* generateSampleBytes(offerings: number, onMade: (share: number) => void): AsyncGenerator<Uint8Array> {
  let text = ''
  let made = 0
  for (const price of generateSamplePrices(offerings)) {
    text += `${JSON.stringify(price)}\n`
    made++
    if (text.length < CHUNK_BYTES) continue
    onMade(made / (offerings * ROWS_PER_OFFERING))
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

async function* countLines(pieces: AsyncIterable<Uint8Array>, onLines: (lines: number) => void) {
  let lines = 0
  for await (const piece of pieces) {
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) lines++
    onLines(lines)
    yield piece
  }
}

/** Writes a new file, which appears complete or not at all. */
async function writeNewFile(file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  if (existsSync(file)) throw Object.assign(new Error(`'${file}' exists already`), { code: 'EEXIST' })
  const draft = `${file}.${process.pid}`
  try {
    await pipeline(pieces, createWriteStream(draft, { flags: 'wx', flush: true }))
    await link(draft, file)
  } finally {
    await rm(draft, { force: true })
  }
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:8084' },
      replace: { type: 'boolean', default: false },
      empty: { type: 'boolean', default: false },
      offerings: { type: 'string', default: '50' },
      help: { type: 'boolean', default: false },
    },
  })
  const { replace, empty, url } = values
  const [command, file, ...rest] = positionals
  const offerings = Number(values.offerings)
  const writes = command === 'generate' && file !== undefined
  const exports = command === 'export' && file !== undefined
  const isKnown = (command === 'generate' && !(writes && replace)) || (command === 'import' && file) || exports
  if (values.help || !isKnown || rest.length > 0 || !Number.isSafeInteger(offerings) || offerings < 1) {
    process[values.help ? 'stdout' : 'stderr'].write(HELP)
    process.exitCode = values.help ? 0 : 1
    return
  }
  // Checked before the request: a request whose body fails does not report the reason.
  if (command === 'import') await access(file!, constants.R_OK)
  const progress = createProgressLine(process.stderr)
  const update = (share: number) => progress.update(`${command} ${Math.round(share * 100)} %`, share)
  const lines = command === 'import' ? readFileBytes(file!, update) : generateSampleBytes(offerings, update)
  const client = createPricesClient(url, { token: process.env.API_TOKEN })
  if (writes || exports) {
    const pieces = exports ? countLines(client.export(), (count) => progress.update(`exported ${count} prices`)) : lines
    await writeNewFile(file, pieces)
    progress.end()
    return
  }
  const { imported, prices } = await client.import(lines, { replace, empty })
  progress.end()
  process.stdout.write(`imported ${imported} prices; the catalog has ${prices}\n`)
}

try {
  await main()
} catch (error) {
  const { code, message, cause } = error as Error & { code?: string; cause?: { code?: string } }
  process.stderr.write(`\n${code ?? cause?.code ?? 'FAILED'}: ${message}\n`)
  process.exitCode = 1
}
