import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { readExport, writeExport, writeExportFile, type ExportHead } from '../backup/export-lines.ts'
import { createRequester, readChunks, type Requester } from '../client/service-client.ts'
import type { ServiceError } from '../errors/service-error.ts'
import { createProgressLine } from '../progress-line.ts'

/** A service whose data `pnpm SERVICE export` and `import` move. */
export interface MovedService {
  readonly head: ExportHead
  /** Default port of the service. */
  readonly port: number
  readonly help: string
  /** Maximum size of a line (bytes), if the service limits it. */
  readonly maxLineBytes?: number
  /** True if a line may be in another request than the line before it. By default any line may. */
  canSplit?(before: string, line: string): boolean
  /** Yields the lines of the data in the folder of a stopped service. @throws StartError */
  readFolder(from: string): AsyncIterable<object>
  /** Describes the replies to all requests of an import. */
  describe(replies: readonly Record<string, number>[]): string
}

/** Size at which lines are sent (bytes). A larger line is a request by itself. */
const BATCH_BYTES = 524_288
/** Retries of a request that the service refuses because it is busy; one per second. */
const MAX_RETRIES = 120
const RETRY_INTERVAL_MS = 1_000
const BUSY_CODES = new Set(['FANOUT_BACKLOG_FULL', 'MEMORY_FULL', 'OVERLOADED', 'RATE_LIMITED'])

async function postLines(request: Requester, lines: readonly string[]): Promise<Record<string, number>> {
  const options = { body: `${lines.join('\n')}\n`, headers: { 'content-type': 'application/x-ndjson' } }
  for (let tries = 0; ; tries++) {
    try {
      return (await (await request('POST', '/import', options)).json()) as Record<string, number>
    } catch (error) {
      if (tries === MAX_RETRIES || !BUSY_CODES.has((error as ServiceError).code)) throw error
      await delay(RETRY_INTERVAL_MS)
    }
  }
}

/** Imports a file. The first reading only checks it, so that a damaged one changes nothing. */
async function importFile(service: MovedService, file: string, request: Requester): Promise<string> {
  const { head, maxLineBytes = Infinity, canSplit = () => true, describe } = service
  let total = 0
  for await (const line of readExport(file, head)) {
    total++
    if (Buffer.byteLength(line) >= maxLineBytes) throw new Error(`line ${total + 1} of ${file} is too large`)
  }
  const progress = createProgressLine(process.stderr)
  const replies: Record<string, number>[] = []
  let [lines, bytes, sent] = [[] as string[], 0, 0]
  async function send(): Promise<void> {
    if (lines.length > 0) replies.push(await postLines(request, lines))
    sent += lines.length
    if (total > 0) progress.update(`imported ${sent} lines`, sent / total)
    ;[lines, bytes] = [[], 0]
  }
  try {
    for await (const line of readExport(file, head)) {
      if (bytes + line.length > BATCH_BYTES && canSplit(lines.at(-1) ?? '', line)) await send()
      lines.push(line)
      bytes += line.length
    }
    await send()
  } finally {
    progress.end()
  }
  return describe(replies)
}

async function run(service: MovedService): Promise<number> {
  const { head, port, help, readFolder } = service
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, from: { type: 'string' }, help: { type: 'boolean' } },
  })
  const [command, file, ...rest] = positionals
  const { url = `http://127.0.0.1:${port}`, from } = values
  const isKnown = command === 'export' || (command === 'import' && from === undefined)
  if (values.help || !isKnown || file === undefined || rest.length > 0 || (values.url && from)) {
    process[values.help ? 'stdout' : 'stderr'].write(help)
    return values.help ? 0 : 2
  }
  const request = createRequester(url, { token: process.env.API_TOKEN || process.env.READ_TOKEN })
  if (command === 'import') process.stdout.write(`${await importFile(service, file, request)}\n`)
  else if (from !== undefined) await writeExportFile(file, writeExport(head, readFolder(from)))
  else await writeExportFile(file, readChunks(await request('GET', '/export')))
  return 0
}

/** Runs `pnpm SERVICE export FILE` or `import FILE`. Resolves with the exit status. */
export async function runMoveCli(service: MovedService): Promise<number> {
  try {
    return await run(service)
  } catch (error) {
    const { code, message, cause } = error as Error & { code?: string; cause?: Error }
    const reason = cause instanceof Error ? ` (${cause.message})` : ''
    process.stderr.write(`${service.head.export}: ${code ? `${code}: ` : ''}${message}${reason}\n`)
    return 1
  }
}
