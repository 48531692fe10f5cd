import { access, constants } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { createProgressLine } from '@influencer-stats/runtime/progress-line'
import { checkPrices, type CheckReport } from './check/catalog-check.ts'
import { getFormat, readPriceFile, writePriceFile } from './cli/price-files.ts'
import { createPricesClient } from './client.ts'
import { createCsvWriter } from './csv/write-csv.ts'
import type { PriceFormat } from './messages.ts'
import { generateSamplePrices } from './sample/sample-catalog.ts'

// `pnpm prices import FILE`, `export FILE` and `generate`: import and export the prices of a running service over HTTP.
// `pnpm prices check FILE` needs no service.

const HELP = `pnpm prices import FILE [--replace [--empty]] [--url URL]    imports prices
pnpm prices check FILE                                       reports the problems of a file; needs no service
pnpm prices export FILE [--url URL | --from DIR]             exports all prices to a new file
pnpm prices generate [--offerings N] [--replace] [--url URL] imports the sample prices (50 offerings, 487,200 prices)
pnpm prices generate FILE [--offerings N]                    writes the sample prices to a new file

A FILE has one JSON object per line, or CSV if its name ends in .csv. If its name ends in .gz, it is compressed by gzip.
--replace removes all other prices; a file without prices also requires --empty.
--from reads the data folder of a stopped service or node.
--url is http://127.0.0.1:8084 by default. The CLI sends API_TOKEN if it is set; for an export it may be the READ_TOKEN.
`
const ROWS_PER_OFFERING = 9_744
const CHUNK_BYTES = 65_536
const NEWLINE = 10

async function* generateSampleBytes(offerings: number, onMade: (share: number) => void, format: PriceFormat) {
  // All offerings have the same characteristics.
  const writer = format === 'csv' ? createCsvWriter(generateSamplePrices(1)) : undefined
  let text = writer?.head ?? ''
  let made = 0
  for (const price of generateSamplePrices(offerings)) {
    text += writer?.format(price) ?? `${JSON.stringify(price)}\n`
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

/** Formats a report for people: one line per problem. */
function formatReport({ prices, problems, more }: CheckReport): string {
  const lines = problems.map(({ code, line, detail }) => `line ${line}: ${code} ${detail}\n`)
  const count = `${problems.length}${more ? ' and more' : ''} problem${problems.length === 1 ? '' : 's'}`
  return `${lines.join('')}${count} in a file with ${prices} valid prices\n`
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:8084' },
      from: { type: 'string' },
      replace: { type: 'boolean', default: false },
      empty: { type: 'boolean', default: false },
      offerings: { type: 'string', default: '50' },
      help: { type: 'boolean', default: false },
    },
  })
  const { replace, empty, url, from } = values
  const [command, file, ...rest] = positionals
  const offerings = Number(values.offerings)
  const writes = command === 'generate' && file !== undefined
  const exports = command === 'export' && file !== undefined
  const reads = (command === 'import' || command === 'check') && file !== undefined
  const isKnown = (command === 'generate' && !(writes && replace)) || reads || exports
  if (
    values.help ||
    !isKnown ||
    (from !== undefined && !exports) ||
    rest.length > 0 ||
    !Number.isSafeInteger(offerings) ||
    offerings < 1
  ) {
    process[values.help ? 'stdout' : 'stderr'].write(HELP)
    process.exitCode = values.help ? 0 : 1
    return
  }
  // Checked before the request: a request whose body fails does not report the reason.
  if (reads) await access(file, constants.R_OK)
  const progress = createProgressLine(process.stderr)
  const update = (share: number) => progress.update(`${command} ${Math.round(share * 100)} %`, share)
  const format = file === undefined ? 'ndjson' : getFormat(file)
  const lines = reads ? readPriceFile(file, update) : generateSampleBytes(offerings, update, format)
  if (command === 'check') {
    const report = await checkPrices(lines, { format })
    progress.end()
    process.stdout.write(formatReport(report))
    process.exitCode = report.problems.length > 0 ? 1 : 0
    return
  }
  const client = createPricesClient(url, { token: process.env.API_TOKEN })
  if (writes || exports) {
    const onLines = (count: number) => progress.update(`exported ${count} lines`)
    const exported = async () =>
      from === undefined
        ? client.export({ format })
        : (await import('./export/stopped-folder.ts')).readStoppedFolder(from, format)
    await writePriceFile(file, exports ? countLines(await exported(), onLines) : lines)
    progress.end()
    return
  }
  const { imported, prices } = await client.import(lines, { format, replace, empty })
  progress.end()
  process.stdout.write(`imported ${imported} prices; the catalog has ${prices}\n`)
}

try {
  await main()
} catch (error) {
  const { code, cause } = error as Error & { code?: string; cause?: Error & { code?: string } }
  // A failed request states its reason in the cause.
  const reason = code === undefined && cause?.code !== undefined ? cause : (error as Error & { code?: string })
  process.stderr.write(`\n${reason.code ?? 'FAILED'}: ${reason.message}\n`)
  process.exitCode = 1
}
