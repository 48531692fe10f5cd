import { parseArgs } from 'node:util'
import { createRequester, readChunks } from '@influencer-stats/runtime/service-client'
import { readExport, writeExport, writeExportFile } from '@influencer-stats/runtime/export-lines'
import { createProgressLine } from '@influencer-stats/runtime/progress-line'
import { findStoppedFolder } from '@influencer-stats/runtime/stopped-folder'
import { exportDatabase } from './state/export-database.ts'
import { EXPORT_HEAD, MAX_IMPORT_BYTES } from './core/export-line.ts'
import { openStatsLevel } from './state/level-database.ts'

// `pnpm stats export FILE` and `import FILE`: move the collections and histories of a service.

const HELP = `pnpm stats export FILE [--url URL | --from DIR]   exports all collections, histories and details to a file
pnpm stats import FILE [--url URL]               imports such a file into a service, or into one node of a cluster

--url is http://127.0.0.1:8080 by default. --from reads the data folder of a stopped service or node.
An import replaces no collection that has a later version, and can be repeated. A damaged file changes nothing.
API_TOKEN is sent if it is set, READ_TOKEN otherwise.
Exit status: 0 success, 1 failure, 2 wrong usage.
`
/** Maximum size of a request (bytes). A larger line is a request by itself. */
const BATCH_BYTES = 524_288

async function* exportFolder(from: string) {
  const { folder, isReplica } = findStoppedFolder('stats', from)
  const level = await openStatsLevel({ folder, isReplica, log: { info() {}, error() {} } })
  try {
    yield* writeExport(EXPORT_HEAD, exportDatabase(level.db))
  } finally {
    await level.close()
  }
}

async function importFile(file: string, url: string, token: string | undefined): Promise<string> {
  // The first reading only checks the file, so that a damaged one changes nothing.
  let total = 0
  for await (const line of readExport(file, EXPORT_HEAD)) {
    total++
    if (Buffer.byteLength(line) >= MAX_IMPORT_BYTES) throw new Error(`line ${total + 1} of ${file} is too large`)
  }
  const progress = createProgressLine(process.stderr)
  const request = createRequester(url, { token })
  let [sent, newer] = [0, 0]
  async function send(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return
    const headers = { 'content-type': 'application/x-ndjson' }
    const reply = await request('POST', '/import', { body: `${lines.join('\n')}\n`, headers })
    newer += ((await reply.json()) as { newer: number }).newer
    sent += lines.length
    progress.update(`imported ${sent} lines`, sent / total)
  }
  try {
    let [lines, bytes] = [[] as string[], 0]
    for await (const line of readExport(file, EXPORT_HEAD)) {
      if (bytes + line.length > BATCH_BYTES) {
        await send(lines)
        ;[lines, bytes] = [[], 0]
      }
      lines.push(line)
      bytes += line.length
    }
    await send(lines)
  } finally {
    progress.end()
  }
  return `imported ${sent} lines${newer > 0 ? `; ${newer} collections have a later version and were not replaced` : ''}`
}

async function main(): Promise<number> {
  const { API_TOKEN, READ_TOKEN } = process.env
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, from: { type: 'string' }, help: { type: 'boolean' } },
  })
  const [command, file, ...rest] = positionals
  const { url = 'http://127.0.0.1:8080', from } = values
  const isKnown = command === 'export' || (command === 'import' && from === undefined)
  if (values.help || !isKnown || file === undefined || rest.length > 0 || (values.url && from)) {
    process[values.help ? 'stdout' : 'stderr'].write(HELP)
    return values.help ? 0 : 2
  }
  const token = API_TOKEN || READ_TOKEN
  if (command === 'import') process.stdout.write(`${await importFile(file, url, token)}\n`)
  else if (from !== undefined) await writeExportFile(file, exportFolder(from))
  else await writeExportFile(file, readChunks(await createRequester(url, { token })('GET', '/export')))
  return 0
}

try {
  process.exitCode = await main()
} catch (error) {
  const { code, message, cause } = error as Error & { code?: string; cause?: Error }
  process.stderr.write(`stats: ${code ? `${code}: ` : ''}${message}${cause ? ` (${cause.message})` : ''}\n`)
  process.exitCode = 1
}
